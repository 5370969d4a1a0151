/** Maximum wait of a disbursement for coins or gas that nothing under way brings. */
export const coinsWaitMs = 24 * 3_600_000
