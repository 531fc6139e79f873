"""Running specimens: which can run here, one run with its report, many runs from warm parents."""
