"""The paper's two studies, as pure functions of their configuration."""
