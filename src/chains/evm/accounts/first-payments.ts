/** Accounts that pay before they exist (ERC-6492): their signature comes with the call that creates them. */
import { encodeFunctionData, isErc6492Signature, parseAbi, parseErc6492Signature } from 'viem'
import type { Hex } from '#lib/hex'
import { scaCores } from '#lib/sca-cores'
import { canonicalAddress } from '../../addresses/canonical.ts'
import type { Address } from '../../addresses/types.ts'
import type { FirstPayments } from '../../facets/authorizations.ts'
import type { Network } from '../../networks/index.ts'
import { createdBy } from './account.ts'
import { contractsOf, modularContracts } from './deployed-contracts.ts'

/** Multicall3, which has one address on every chain but those on which addresses depend on the code in another way. */
const batcher = '0xca11bde05977b3631167028862be2a173976ca11' as Address
const batchAbi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes data; }',
  'function aggregate3(Call[] calls) payable',
])

/** The contracts of accounts whose code this program has. */
const known = [modularContracts, ...scaCores.map(contractsOf)]

export const firstPaymentsOn = ({ createsElsewhere }: Network): FirstPayments | undefined =>
  createsElsewhere
    ? undefined
    : {
        unwrapped,
        createdAccount: (creation) =>
          known.flatMap((contracts) => createdBy(creation, contracts)?.account ?? [])[0],
        batcher,
        // Another one may have created the account meanwhile.
        createdFirst: ({ factory, data }, { to, data: payment }) => ({
          to: batcher,
          valueAtomic: 0n,
          data: encodeFunctionData({
            abi: batchAbi,
            functionName: 'aggregate3',
            args: [
              [
                { target: factory as Hex, allowFailure: true, data },
                { target: to as Hex, allowFailure: false, data: payment },
              ],
            ],
          }),
        }),
      }

function unwrapped(signature: Hex): ReturnType<FirstPayments['unwrapped']> {
  if (!isErc6492Signature(signature)) return undefined
  try {
    const { address, data, signature: own } = parseErc6492Signature(signature)
    if (address === undefined || data === undefined) return undefined
    return { factory: canonicalAddress(address) as Address, data, signature: own }
  } catch {
    return undefined
  }
}
