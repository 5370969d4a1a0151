/** Every blockchain that wallets may be on. A chain that is not connected still validates and is stored. */
export const walletBlockchains = [
  'ETH',
  'ETH-SEPOLIA',
  'AVAX',
  'AVAX-FUJI',
  'MATIC',
  'MATIC-AMOY',
  'SOL',
  'SOL-DEVNET',
  'ARB',
  'ARB-SEPOLIA',
  'NEAR',
  'NEAR-TESTNET',
  'EVM',
  'EVM-TESTNET',
  'UNI',
  'UNI-SEPOLIA',
  'BASE',
  'BASE-SEPOLIA',
  'OP',
  'OP-SEPOLIA',
  'APTOS',
  'APTOS-TESTNET',
  'ARC',
  'ARC-TESTNET',
  'MONAD',
  'MONAD-TESTNET',
] as const

/** All of these, and those that only the business account reaches. */
export const blockchains = [...walletBlockchains, 'LINEA', 'LINEA-SEPOLIA', 'ZKS', 'ZKS-SEPOLIA'] as const

export type Blockchain = (typeof blockchains)[number]
export type Environment = 'TEST' | 'LIVE'
export type ChainFamily = 'evm' | 'solana' | 'aptos' | 'near'

const names: ReadonlySet<string> = new Set(blockchains)
const testSuffix = /-(SEPOLIA|FUJI|AMOY|DEVNET|TESTNET)$/

/** True for exactly the names in `blockchains`; they are case-sensitive. */
export function isBlockchain(value: unknown): value is Blockchain {
  return typeof value === 'string' && names.has(value)
}

/** TEST for the names of test networks, LIVE for main networks. */
export function environmentOf(blockchain: Blockchain): Environment {
  return testSuffix.test(blockchain) ? 'TEST' : 'LIVE'
}

/** The family whose rules (addresses, signatures, fees) the blockchain follows. */
export function familyOf(blockchain: Blockchain): ChainFamily {
  const base = blockchain.replace(testSuffix, '')
  if (base === 'SOL') return 'solana'
  if (base === 'APTOS') return 'aptos'
  if (base === 'NEAR') return 'near'
  return 'evm'
}

/** EVM and EVM-TESTNET stand for any EVM chain: their wallets only sign, and hold nothing on a chain. */
export function isVirtual(blockchain: Blockchain): boolean {
  return blockchain === 'EVM' || blockchain === 'EVM-TESTNET'
}
