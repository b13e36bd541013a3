"""Files that released versions wrote, a folder a version; ``make`` writes those of this one."""
