import type { Chain } from '#chains/chain'

/** Maximum wait of a disbursement for coins or gas. On a local chain a sweep takes seconds, even on a busy machine. */
const patienceMs = 24 * 3_600_000
const patienceLocalMs = 120_000

export const patienceMsOf = ({ local }: Chain): number => (local ? patienceLocalMs : patienceMs)
