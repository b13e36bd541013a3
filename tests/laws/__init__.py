"""What every measure has to obey."""

import pytest

# So that a failed check of a helper module shows its values too.
pytest.register_assert_rewrite(f"{__name__}.statements", f"{__name__}.faces")
