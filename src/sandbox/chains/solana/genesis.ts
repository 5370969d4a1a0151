import { createHash } from 'node:crypto'
import { encodeBase58 } from '#chains/addresses/base-encodings'
import { issuer, issuerFunds } from './issuer.ts'
import { mintData, tokenProgram } from './programs.ts'
import { systemProgram, type Vm } from './vm.ts'

/** The stablecoins of the test network at their addresses there, of which the issuer is the authority. */
export const mints = [
  { symbol: 'USDC', address: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', decimals: 6 },
  { symbol: 'EURC', address: 'HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr', decimals: 6 },
] as const

/** The hash by which networks are told apart. */
export const genesisHashOf = (chainId: number): string =>
  encodeBase58(createHash('sha256').update(`Bezant: a local Solana ledger ${chainId}`).digest())

/** Newer clients write memos by this program, which has the same interface. */
const memoPrograms = {
  known: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  newer: 'Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH',
}

export function writeGenesis(vm: Vm): void {
  vm.setAccount(memoPrograms.newer, vm.account(memoPrograms.known))
  vm.setAccount(issuer.address, {
    lamports: issuerFunds,
    data: Buffer.alloc(0),
    owner: systemProgram,
    isExecutable: false,
  })
  for (const { address, decimals } of mints) {
    const data = mintData(issuer.publicKey, decimals)
    vm.setAccount(address, {
      lamports: vm.rentExempt(data.length),
      data,
      owner: tokenProgram,
      isExecutable: false,
    })
  }
}
