//! Which sandbox, and how it is reached.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// The port on which a sandbox answers.
const PORT: &str = "49983";
const SANDBOX_ID: HeaderName = HeaderName::from_static("e2b-sandbox-id");
const SANDBOX_PORT: HeaderName = HeaderName::from_static("e2b-sandbox-port");
const ACCESS_TOKEN: HeaderName = HeaderName::from_static("x-access-token");

/// Which sandbox an [`E2bFs`](crate::E2bFs) works in. Its `Debug` shows no token.
#[derive(Clone)]
pub struct E2bOptions {
    pub(super) sandbox_id: String,
    domain: String,
    base_url: Option<String>,
    access_token: Option<String>,
    pub(super) user: Option<String>,
    root: String,
    pub(super) patience: Duration,
}

impl E2bOptions {
    /// The sandbox `sandbox_id` at `e2b.app`, and in it `/home/user`.
    #[must_use]
    pub fn new(sandbox_id: impl Into<String>) -> Self {
        Self {
            sandbox_id: sandbox_id.into(),
            domain: "e2b.app".to_owned(),
            base_url: None,
            access_token: None,
            user: None,
            root: "/home/user".to_owned(),
            patience: Duration::from_secs(300),
        }
    }

    /// The token of a secured sandbox, as its creation answered it (`envdAccessToken`).
    #[must_use]
    pub fn with_access_token(mut self, token: impl Into<String>) -> Self {
        self.access_token = Some(token.into());
        self
    }

    /// Where sandboxes are: the address is `https://49983-<sandbox>.<domain>`.
    #[must_use]
    pub fn with_domain(mut self, domain: impl Into<String>) -> Self {
        self.domain = domain.into();
        self
    }

    /// The whole address instead, `http://127.0.0.1:49983` for one.
    #[must_use]
    pub fn with_base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Who reads and writes there; the sandbox's default user unless given.
    #[must_use]
    pub fn with_user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// The work folder, an absolute path in the sandbox.
    #[must_use]
    pub fn with_root(mut self, root: impl Into<String>) -> Self {
        self.root = root.into();
        self
    }

    /// How long the sandbox may be silent: until it is reached, until a request is answered (sending its content included), and between two
    /// pieces of an answer. After that the request fails with `FS_IO_ERROR`. 5 minutes unless given.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The address that paths are added to.
    pub(super) fn url(&self) -> Result<Url, E2bOptionsError> {
        let id_is_plain = |id: &str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !id_is_plain(&self.sandbox_id) {
            return Err(E2bOptionsError::SandboxId { value: self.sandbox_id.clone() });
        }
        let text = match &self.base_url {
            Some(url) => url.clone(),
            None => format!("https://{PORT}-{}.{}", self.sandbox_id, self.domain),
        };
        let is_plain = |url: &Url| {
            matches!(url.scheme(), "https" | "http")
                && url.has_host()
                && (url.username(), url.password(), url.query(), url.fragment()) == ("", None, None, None)
        };
        match Url::parse(&text) {
            Ok(mut url) if is_plain(&url) => {
                if !url.path().ends_with('/') {
                    url.set_path(&format!("{}/", url.path()));
                }
                Ok(url)
            }
            _ => Err(E2bOptionsError::Address { value: text }),
        }
    }

    /// What every request carries.
    pub(super) fn headers(&self) -> Result<HeaderMap, E2bOptionsError> {
        let mut headers = HeaderMap::new();
        let id = HeaderValue::from_str(&self.sandbox_id);
        headers.insert(SANDBOX_ID, id.map_err(|_| E2bOptionsError::SandboxId { value: self.sandbox_id.clone() })?);
        headers.insert(SANDBOX_PORT, HeaderValue::from_static(PORT));
        if let Some(token) = &self.access_token {
            let mut token = HeaderValue::from_str(token).map_err(|_| E2bOptionsError::AccessToken)?;
            token.set_sensitive(true);
            headers.insert(ACCESS_TOKEN, token);
        }
        Ok(headers)
    }

    /// The work folder, without a final `/`: empty for the root of the sandbox.
    pub(super) fn root(&self) -> Result<String, E2bOptionsError> {
        let names: Vec<&str> = self.root.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        if !self.root.starts_with('/') || names.contains(&"..") || self.root.contains('\0') {
            return Err(E2bOptionsError::Root { value: self.root.clone() });
        }
        Ok(names.iter().flat_map(|name| ["/", name]).collect())
    }
}

impl fmt::Debug for E2bOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = self.access_token.as_ref().map(|_| format_args!("***"));
        f.debug_struct("E2bOptions")
            .field("sandbox_id", &self.sandbox_id)
            .field("domain", &self.domain)
            .field("base_url", &self.base_url)
            .field("access_token", &token)
            .field("user", &self.user)
            .field("root", &self.root)
            .field("patience", &self.patience)
            .finish()
    }
}

/// Why no sandbox can be reached with these [`E2bOptions`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum E2bOptionsError {
    /// It becomes a part of a host's name.
    #[error("the sandbox id {value:?} is not made of letters, digits and '-'")]
    SandboxId {
        /// What was given.
        value: String,
    },
    /// Not `http` or `https` with a host, or with a user, a query or a fragment.
    #[error("the sandbox's address {value:?} is not a plain http or https address")]
    Address {
        /// What was given, or what the sandbox and the domain make.
        value: String,
    },
    /// A header cannot hold it. It is not shown.
    #[error("the access token holds characters that no header can carry")]
    AccessToken,
    /// Relative, or with `..` in it.
    #[error("the work folder {value:?} is not an absolute path without '..'")]
    Root {
        /// What was given.
        value: String,
    },
    /// The system has no certificates to trust, for one.
    #[error("connections cannot be made")]
    Client {
        /// What the library says.
        source: reqwest::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_made_of_sandbox_and_domain() {
        let options = E2bOptions::new("i1abc").with_domain("e2b.dev");
        assert_eq!(options.url().unwrap().as_str(), "https://49983-i1abc.e2b.dev/");
        let options = options.with_base_url("http://127.0.0.1:8080/proxy");
        assert_eq!(options.url().unwrap().as_str(), "http://127.0.0.1:8080/proxy/");
    }

    #[test]
    fn what_cannot_be_is_named() {
        for id in ["", "a.b", "a/b", "ä", "a@b", "a b"] {
            assert!(matches!(E2bOptions::new(id).url(), Err(E2bOptionsError::SandboxId { value }) if value == id));
        }
        for url in ["", "ftp://a", "127.0.0.1:80", "http://u:p@a", "http://a?x", "http://a#x", "file:///a"] {
            let outcome = E2bOptions::new("a").with_base_url(url).url();
            assert!(matches!(outcome, Err(E2bOptionsError::Address { value }) if value == url), "{url}");
        }
        for root in ["", "a", "./a", "/a/../b", "/a\0"] {
            let outcome = E2bOptions::new("a").with_root(root).root();
            assert!(matches!(outcome, Err(E2bOptionsError::Root { value }) if value == root), "{root:?}");
        }
        let outcome = E2bOptions::new("a").with_access_token("a\nb").headers();
        assert!(matches!(outcome, Err(E2bOptionsError::AccessToken)));
    }

    #[test]
    fn the_root_is_tidied_and_the_token_is_hidden() {
        for (root, tidy) in [("/", ""), ("/home//user/", "/home/user"), ("/./a/.", "/a")] {
            assert_eq!(E2bOptions::new("a").with_root(root).root().unwrap(), tidy);
        }
        let options = E2bOptions::new("a").with_access_token("secret");
        assert!(!format!("{options:?} {:?}", options.headers().unwrap()).contains("secret"));
    }
}
