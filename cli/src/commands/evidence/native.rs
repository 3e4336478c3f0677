//! What images cost by the driver profiles.

use attache_evidence::NativeTokens;
use attache_runtime::Profiles;

/// A counter for each built-in profile, of an image as it would be sent. The agent's model is who counts on the routes that it is reached by,
/// and a route's usual rule counts on the others.
pub(super) fn counters(agent_model: &str) -> Vec<(String, NativeTokens<'static>)> {
    let counter = |profile: &'static attache_runtime::Profile| {
        let model = profile.serves(agent_model).then(|| agent_model.to_owned());
        let count: NativeTokens<'_> = Box::new(move |width, height, _| {
            profile.tokens_as_sent(model.as_deref(), width, height).map(|estimate| estimate.tokens)
        });
        (profile.id.clone(), count)
    };
    Profiles::builtin().iter().map(counter).collect()
}
