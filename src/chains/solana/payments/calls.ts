/** Payments as calls: lamports to an address, or a token to the associated account of one. */
import { bytesOf, hexOf, isHex } from '#lib/hex'
import { decodeBase58, encodeBase58 } from '../../addresses/base-encodings.ts'
import type { Address } from '../../addresses/types.ts'
import type { Effects } from '../../facets/call-effects.ts'
import type { Call } from '../../facets/payments.ts'
import { ValueProblem } from '../../invalid-value.ts'
import { tokenAddress } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import { u64Bytes } from '../instructions.ts'

const amountMax = 2n ** 64n - 1n

/** The instruction of the token program that moves an amount of a mint with these decimals. */
const transferChecked = 12
export const transferBytes = 10
const addressBytes = 32

/** A payment, of lamports where there is no token. */
export type SolanaPayment = { to: Address; amountAtomic: bigint; token?: { mint: Address; decimals: number } }

/**
 * The call that moves lamports, or a token where one is named. The data of a call of a mint is the instruction `TransferChecked` and
 * the address of the recipient behind it. `given`: the decimals of a token that the network does not list.
 */
export function solanaTransferCall(
  network: Network,
  to: Address,
  amountAtomic: bigint,
  mint?: Address,
  given?: number,
): Call {
  if (amountAtomic < 0n || amountAtomic > amountMax)
    throw new ValueProblem('amount', `must be at most ${amountMax} base units, as every amount of this chain`)
  if (mint === undefined) return { to, valueAtomic: amountAtomic, data: '0x' }
  const decimals = network.tokens.find((each) => tokenAddress(each) === mint)?.decimals ?? given
  if (decimals === undefined)
    throw new ValueProblem('token', `is no token that payments on ${network.blockchain} are made in`)
  return {
    to: mint,
    valueAtomic: 0n,
    data: hexOf(Buffer.concat([transferData(amountAtomic, decimals), decodeBase58(to)!])),
  }
}

/** The data of `TransferChecked`. */
export const transferData = (amountAtomic: bigint, decimals: number): Buffer =>
  Buffer.concat([Buffer.of(transferChecked), u64Bytes(amountAtomic), Buffer.of(decimals)])

/** Reads what a call pays. Throws for a call that is no payment. */
export function paymentOfCall({ to, valueAtomic, data }: Call): SolanaPayment {
  if (to === undefined) throw new ValueProblem('to', 'is missing: programs are not deployed by a call here')
  if (data === '0x') return { to, amountAtomic: valueAtomic }
  const bytes = bytesOf(data)
  if (valueAtomic !== 0n || bytes.length !== transferBytes + addressBytes || bytes[0] !== transferChecked)
    throw new ValueProblem('data', 'must be a payment of a token: other programs are not called here')
  return {
    to: encodeBase58(bytes.subarray(transferBytes)),
    amountAtomic: bytes.readBigUInt64LE(1),
    token: { mint: to, decimals: bytes[9]! },
  }
}

/** Decodes what a call pays to whom. Never throws. */
export function decodeSolanaCall(blockchain: string, call: Call): Effects {
  try {
    if (!isHex(call.data)) return undecodable
    const { to: destination, amountAtomic, token } = paymentOfCall(call)
    const transfer = {
      kind: 'transfer',
      blockchain,
      token: token?.mint ?? 'native',
      destination,
      amountAtomic,
    } as const
    return { effects: [transfer], dangers: [], parties: [] }
  } catch {
    return undecodable
  }
}

const undecodable: Effects = { effects: [], dangers: ['undecodable'], parties: [] }
