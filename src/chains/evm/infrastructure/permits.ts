import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { Permits } from '../../facets/permits.ts'
import type { Network } from '../../networks/index.ts'
import { quantity } from '../rpc/quantities.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { permit2Address, permitSigner, permitSpenders, permittedPayment } from '../signing/permit2.ts'

/** The first four bytes of keccak256("allowance(address,address)"). */
const allowanceSelector = '0xdd62ed3e'
const wordOf = (address: Address) => address.slice(2).padStart(64, '0')

/** The permits of a network; none where Permit2 has another address than payers sign for. */
export function permitsThrough(rpc: Rpc, { createsElsewhere, chainId }: Network): Permits | undefined {
  if (createsElsewhere) return undefined
  return {
    takenBy: permit2Address,
    spenderOf: (scheme) => permitSpenders[scheme],
    allowanceOf: async (token, owner) => {
      const data: Hex = `${allowanceSelector}${wordOf(owner)}${wordOf(permit2Address)}`
      return quantity(await rpc.call('eth_call', [{ to: token, data }, 'latest']), 'allowance')
    },
    signerOf: (payment, signature) => permitSigner(chainId, payment, signature),
    permittedPayment,
  }
}
