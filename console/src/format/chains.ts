/** The colour of each network; a chain is always named beside it. */
const colours: Record<string, string> = {
  BASE: '#2f6bff',
  ETH: '#6b7bd6',
  ARB: '#3aa0d8',
  MATIC: '#8a57e0',
  AVAX: '#e0524c',
  OP: '#c2622d',
  UNI: '#e05fb0',
  LINEA: '#4aa58e',
  ZKS: '#8c8f99',
  MONAD: '#7a5bd0',
  SOL: '#3fb58a',
  APTOS: '#4aa58e',
  NEAR: '#7b8a5a',
  SUI: '#3f8fd0',
}

export const chainColour = (blockchain: string): string =>
  colours[blockchain.split('-')[0] ?? ''] ?? '#8c8f99'

/** The numbers of public chains in cross-chain messages; a test network has that of its main one. */
const domains: Record<string, number> = {
  APTOS: 9,
  SOL: 5,
  ARB: 3,
  ARC: 26,
  AVAX: 1,
  BASE: 6,
  ETH: 0,
  CODEX: 12,
  CRONOS: 32,
  EDGE: 28,
  HYPEREVM: 19,
  INJECTIVE: 29,
  INK: 21,
  LINEA: 11,
  MATIC: 7,
  MONAD: 15,
  MORPH: 30,
  OP: 2,
  PHAROS: 31,
  PLASMA: 33,
  PLUME: 22,
  SEI: 16,
  SONIC: 13,
  UNI: 10,
  WORLDCHAIN: 14,
  XDC: 18,
  XLAYER: 37,
}

export const publicDomainOf = (blockchain: string): number | undefined =>
  domains[blockchain.split('-')[0] ?? '']

/** A domain with the name of its chain. */
export function domainName(domain: number | string): string {
  const [name] = Object.entries(domains).find(([, number]) => number === Number(domain)) ?? []
  return name ? `${name}, domain ${domain}` : `Domain ${domain}`
}
