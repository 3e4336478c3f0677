use super::*;

#[test]
fn a_number_of_four_digits_is_refused() {
    for kind in Kind::ALL {
        let error = picture(kind, MAX_NUMBER + 1, Look::Sketch).expect_err("1000 has four digits");
        assert_eq!(error.to_string(), "cannot draw 1000: a picture carries a number up to 999");
    }
}
