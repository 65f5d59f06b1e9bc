"""A phone in software that the real adb server, adbutils and uiautomator2 drive. It meets the rest over ADB only."""
