"""The in-phone server: JSON-RPC over HTTP, as uiautomator2's jar speaks it."""
