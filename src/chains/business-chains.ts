/**
 * Every chain code of the business-account API. `networkOfBusinessChain` says which network a code names;
 * codes without one validate and can be stored, but nothing can be received there.
 */
export const businessChains = [
  'ALGO',
  'APTOS',
  'ARB',
  'AVAX',
  'BASE',
  'BTC',
  'CELO',
  'CODEX',
  'ETH',
  'HBAR',
  'HYPEREVM',
  'INK',
  'LINEA',
  'NEAR',
  'NOBLE',
  'OP',
  'PAH',
  'PLUME',
  'POLY',
  'SEI',
  'SOL',
  'SONIC',
  'SUI',
  'UNI',
  'WORLDCHAIN',
  'XDC',
  'XLM',
  'XRP',
  'ZKS',
  'ZKSYNC',
] as const

export type BusinessChain = (typeof businessChains)[number]
