//! One image, or one folder of images, as ordered, byte-exact evidence that an agent can cite, with the claims of its capture checked.
