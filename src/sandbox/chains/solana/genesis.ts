import { createHash } from 'node:crypto'
import { encodeBase58 } from '#chains/addresses/base-encodings'
import { programIds } from '#chains/solana/programs'
import { issuer, issuerFunds } from './issuer.ts'
import { mintData } from './programs.ts'
import type { Vm } from './vm.ts'

/** USDC and EURC of the test network at their addresses there, of which the issuer is the authority. */
const mints = [
  { address: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', decimals: 6 },
  { address: 'HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr', decimals: 6 },
] as const

/** The hash by which networks are told apart. */
export const genesisHashOf = (chainId: number): string =>
  encodeBase58(createHash('sha256').update(`Bezant: a local Solana ledger ${chainId}`).digest())

export function writeGenesis(vm: Vm): void {
  // Newer clients write memos by this program, which has the same interface.
  vm.setAccount(programIds.newestMemo, vm.account(programIds.memo))
  vm.setAccount(issuer.address, {
    lamports: issuerFunds,
    data: Buffer.alloc(0),
    owner: programIds.system,
    isExecutable: false,
  })
  for (const { address, decimals } of mints) {
    const data = mintData(issuer.publicKey, decimals)
    vm.setAccount(address, {
      lamports: vm.rentExempt(data.length),
      data,
      owner: programIds.token,
      isExecutable: false,
    })
  }
}
