import { createPrivateKey, createPublicKey, randomBytes, sign } from 'node:crypto'
import { addressOfKey } from '#chains/aptos/encoding/addresses'
import { aptosFamily } from '#chains/aptos/index'
import type { Chain } from '#chains/chain'
import type { Block } from '#chains/facets/blocks'
import type { Call, UnsignedTransaction } from '#chains/facets/payments'
import type { ChainInput } from '#chains/family'
import { aptosTestnet } from '#chains/networks/aptos-testnet'
import { termsOfLife } from '#engines/transactions/new-life'
import type { Hex } from '#lib/hex'

const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A key whose signatures are as custody gives them for Aptos: the public key, and what it signed. */
export function aptosKey(secret: Uint8Array = randomBytes(32)) {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, secret]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(12)
  return {
    address: addressOfKey(publicKey) as Hex,
    publicKey,
    signed: (message: Buffer) => Buffer.concat([publicKey, sign(null, message, key)]),
  }
}

export type AptosKey = ReturnType<typeof aptosKey>

export const aptosChainOf = (rpcUrls: readonly string[], input: Partial<ChainInput> = {}): Chain =>
  aptosFamily.connect!({
    network: aptosTestnet,
    rpcUrl: rpcUrls[0]!,
    rpcUrls,
    confirmations: 1,
    finalityDepth: 1,
    local: false,
    ...input,
  })

/** A transaction of a key that makes the call next, with what the chain offers for it. */
export async function unsignedOf(
  chain: Chain,
  key: AptosKey,
  call: Call,
  change: Partial<UnsignedTransaction> = {},
): Promise<UnsignedTransaction> {
  const [{ priorityFeeAtomic }, estimate, nonce, head] = await Promise.all([
    chain.offers.fees(),
    chain.offers.estimateGas(key.address, call),
    chain.lane.nonceOf!(key.address),
    chain.blocks.head(),
  ])
  if (estimate.kind !== 'estimated') throw new Error(`${estimate.kind}: ${estimate.message}`)
  return {
    from: key.address,
    ...call,
    nonce,
    gasLimit: chain.offers.limitOf(estimate.gas, 'token'),
    maxFeeAtomic: priorityFeeAtomic.MEDIUM,
    priorityFeeAtomic: priorityFeeAtomic.MEDIUM,
    ...termsOfLife(chain.lifetimes!.expiryAfter(head, head)),
    ...change,
  }
}

export const signedBy = (chain: Chain, key: AptosKey, transaction: UnsignedTransaction) =>
  chain.payments.attachSignature(transaction, key.signed(chain.payments.payloadOf(transaction)))

export async function sendTo(chain: Chain, raw: Hex) {
  const [outcome] = await chain.payments.broadcast([raw])
  return outcome!.kind === 'refused' ? outcome!.reason : outcome!.kind
}

/** All blocks up to the newest. */
export async function blocksOf(chain: Chain, from = 0): Promise<Block[]> {
  const { number } = await chain.blocks.head()
  const numbers = Array.from({ length: number - from + 1 }, (_, index) => from + index)
  const blocks = await Promise.all(numbers.map((each) => chain.blocks.byNumber(each)))
  return blocks.map((block) => block!)
}
