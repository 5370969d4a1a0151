/** Maximum wait of a disbursement for coins or gas that nothing under way brings. */
export const patienceMs = 24 * 3_600_000
