import { pathWith, read } from '../api/ask.ts'
import { type Capability, chainsWith } from '../api/chains.svelte.ts'
import type { ListedEntries } from '../api/types.ts'

type Choice = { value: string; title: string }

/** The chains of the server, or those that have what an act needs. */
export async function chainChoices(capability?: Capability): Promise<Choice[]> {
  return (await chainsWith(capability)).map((value) => ({ value, title: value }))
}

export async function walletSetChoices(): Promise<Choice[]> {
  const { walletSets } = await read<{ walletSets: { id: string; name?: string; custodyType: string }[] }>(
    '/v1/w3s/walletSets?pageSize=50',
  )
  return walletSets
    .filter(({ custodyType }) => custodyType === 'DEVELOPER')
    .map(({ id, name }) => ({ value: id, title: name || id }))
}

type ListedWallet = { id: string; address: string; name?: string; blockchain: string; custodyType: string }

/**
 * The newest wallets that the entity signs for, on chains with contracts or on one of these. A choice names the chain too, and is read by
 * `walletOf`.
 */
export async function walletChoices(blockchain?: string): Promise<Choice[]> {
  const chains = blockchain ? [blockchain] : await chainsWith('contracts')
  const { wallets } = await read<{ wallets: ListedWallet[] }>(
    pathWith('/v1/w3s/wallets', { pageSize: '50', blockchain }),
  )
  return wallets
    .filter((wallet) => wallet.custodyType === 'DEVELOPER' && chains.includes(wallet.blockchain))
    .map((wallet) => ({
      value: `${wallet.id} ${wallet.blockchain}`,
      title: `${wallet.name || wallet.address} on ${wallet.blockchain}`,
    }))
}

export function walletOf(choice: string | undefined) {
  const [walletId, blockchain] = choice?.split(' ') ?? []
  return { walletId, blockchain }
}

/** The tokens of a wallet, with what it has of them. */
export async function tokenChoices(walletId: string): Promise<Choice[]> {
  const { tokenBalances } = await read<{
    tokenBalances: { amount: string; token: { id: string; symbol?: string } }[]
  }>(`/v1/w3s/wallets/${walletId}/balances?includeAll=true&pageSize=50`)
  return tokenBalances.map(({ amount, token }) => ({
    value: token.id,
    title: `${token.symbol ?? token.id}: ${amount}`,
  }))
}

export async function recipientChoices(): Promise<Choice[]> {
  const recipients = await read<
    { id: string; chain: string; address: string; metadata?: { nickname?: string }; status: string }[]
  >('/v1/addressBook/recipients?pageSize=50')
  return recipients
    .filter(({ status }) => status === 'active')
    .map(({ id, chain, address, metadata }) => ({
      value: id,
      title: `${metadata?.nickname ?? address} on ${chain}`,
    }))
}

export const feeLevels: readonly Choice[] = ['LOW', 'MEDIUM', 'HIGH'].map((value) => ({
  value,
  title: value,
}))

/** Every chain whose addresses lists can name: the type of the answers says whether one is missing. */
const screened: Record<Exclude<ListedEntries['chain'], 'EVM' | 'EVM-TESTNET'>, true> = {
  ETH: true,
  'ETH-SEPOLIA': true,
  AVAX: true,
  'AVAX-FUJI': true,
  MATIC: true,
  'MATIC-AMOY': true,
  ARB: true,
  'ARB-SEPOLIA': true,
  UNI: true,
  'UNI-SEPOLIA': true,
  BASE: true,
  'BASE-SEPOLIA': true,
  OP: true,
  'OP-SEPOLIA': true,
  MONAD: true,
  'MONAD-TESTNET': true,
  LINEA: true,
  'LINEA-SEPOLIA': true,
  ZKS: true,
  'ZKS-SEPOLIA': true,
  CODEX: true,
  'CODEX-TESTNET': true,
  SONIC: true,
  'SONIC-TESTNET': true,
  WORLDCHAIN: true,
  'WORLDCHAIN-SEPOLIA': true,
  SEI: true,
  'SEI-TESTNET': true,
  XDC: true,
  'XDC-APOTHEM': true,
  HYPEREVM: true,
  'HYPEREVM-TESTNET': true,
  INK: true,
  'INK-SEPOLIA': true,
  PLUME: true,
  'PLUME-TESTNET': true,
  EDGE: true,
  'EDGE-TESTNET': true,
  INJECTIVE: true,
  'INJECTIVE-TESTNET': true,
  MORPH: true,
  'MORPH-TESTNET': true,
  PHAROS: true,
  'PHAROS-TESTNET': true,
  CRONOS: true,
  'CRONOS-TESTNET': true,
  PLASMA: true,
  'PLASMA-TESTNET': true,
  XLAYER: true,
  'XLAYER-TESTNET': true,
  ARC: true,
  'ARC-TESTNET': true,
  SOL: true,
  'SOL-DEVNET': true,
  APTOS: true,
  'APTOS-TESTNET': true,
  NEAR: true,
  'NEAR-TESTNET': true,
  ALGO: true,
  ATOM: true,
  BCH: true,
  BSV: true,
  BTC: true,
  DOT: true,
  ETC: true,
  HBAR: true,
  LTC: true,
  TRX: true,
  XLM: true,
  XMR: true,
  XRP: true,
  ZRX: true,
}
export const screenedChoices: readonly Choice[] = Object.keys(screened).map((value) => ({
  value,
  title: value,
}))

/** The chains of the wallet product, for filters. */
export const blockchains = [
  'APTOS',
  'APTOS-TESTNET',
  'ARB',
  'ARB-SEPOLIA',
  'AVAX',
  'AVAX-FUJI',
  'BASE',
  'BASE-SEPOLIA',
  'CODEX',
  'CODEX-TESTNET',
  'CRONOS',
  'CRONOS-TESTNET',
  'EDGE',
  'EDGE-TESTNET',
  'ETH',
  'ETH-SEPOLIA',
  'HYPEREVM',
  'HYPEREVM-TESTNET',
  'INJECTIVE',
  'INJECTIVE-TESTNET',
  'INK',
  'INK-SEPOLIA',
  'MATIC',
  'MATIC-AMOY',
  'MONAD',
  'MONAD-TESTNET',
  'MORPH',
  'MORPH-TESTNET',
  'NEAR',
  'NEAR-TESTNET',
  'OP',
  'OP-SEPOLIA',
  'PHAROS',
  'PHAROS-TESTNET',
  'PLASMA',
  'PLASMA-TESTNET',
  'PLUME',
  'PLUME-TESTNET',
  'SEI',
  'SEI-TESTNET',
  'SOL',
  'SOL-DEVNET',
  'SONIC',
  'SONIC-TESTNET',
  'UNI',
  'UNI-SEPOLIA',
  'WORLDCHAIN',
  'WORLDCHAIN-SEPOLIA',
  'XDC',
  'XDC-APOTHEM',
  'XLAYER',
  'XLAYER-TESTNET',
] as const
