"""Does an interval at a chosen threshold hold what it promises?"""
