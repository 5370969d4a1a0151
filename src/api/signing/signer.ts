import { answered } from '#api/fees/estimate'
import { requireChain } from '#api/sources/connected-chain'
import { requireSource, type SourceFields } from '#api/sources/source'
import { onOtherEnvironment } from '#api/sources/usable-chains'
import { type Blockchain, environmentOf, isVirtual } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import { contractsOn } from '#chains/facets/optional'
import { accountMessageDigest } from '#chains/signing'
import { type EntitySecret, type KeyOpener, openSecretOf, signNow } from '#custody/index'
import { decidePolicy, type Operation } from '#custody/policy/index'
import { findWalletAnywhere, findWalletByAddress, type Wallet } from '#custody/wallets/index'
import { screenRecipients } from '#engines/compliance/index'
import { shareLists } from '#engines/compliance/lists/index'
import type { Ctx } from '#engines/ctx'
import { counterpartiesOf, requireNotHalted } from '#engines/transactions/index'
import { ApiError, invalid } from '#lib/errors'
import { hexOf } from '#lib/hex'
import { newId } from '#lib/ids'
import { recordChanges } from '#runtime/record/store'

export type SignerFields = SourceFields & { memo?: string }

/** The wallet that signs. Under EVM and EVM-TESTNET, an address that is known on any blockchain is known there as well. */
export async function requireSigner(ctx: Ctx, fields: SignerFields): Promise<Wallet> {
  const blockchain = fields.blockchain as Blockchain | undefined
  if (blockchain !== undefined)
    requireSigning(blockchain, 'blockchain', 'has no signing wallets on this server')
  if (blockchain !== undefined && environmentOf(blockchain) !== ctx.entity.environment)
    throw onOtherEnvironment(ctx, 'blockchain', blockchain)
  const wallet = await requireSource(ctx, fields, findSigner)
  requireSigning(
    wallet.blockchain as Blockchain,
    'walletId',
    'is of a blockchain that has no signing wallets on this server',
  )
  return wallet
}

function requireSigning(blockchain: Blockchain, at: string, reason: string): void {
  if (capabilitiesOf(blockchain).sign) return
  throw invalid({
    at,
    reason,
    value: blockchain,
    kind: 'blockchainUnsupportedForOperation',
  })
}

const findSigner: typeof findWalletByAddress = async (db, owner, blockchain, address) => {
  const wallet = await findWalletByAddress(db, owner, blockchain, address)
  if (wallet || !isVirtual(blockchain as Blockchain)) return wallet
  const known = await findWalletAnywhere(db, owner, address)
  return known && { ...known, blockchain }
}

/** Prepares a signature: its `tx` must neither decrypt nor wait for a node. */
export async function prepareSigning(
  ctx: Ctx,
  input: { body: SignerFields & { entitySecretCiphertext: string } },
): Promise<EntitySecret> {
  const secret = await openSecretOf(ctx, input)
  await requireVerifiable(ctx, input.body)
  return secret
}

/**
 * Throws 155517 for a smart account that is not deployed: nothing could verify its signature (ERC-1271) before. Asks the node
 * of its chain, so never in a `tx`.
 */
export async function requireVerifiable(ctx: Ctx, fields: SignerFields): Promise<void> {
  const { accountType, blockchain, address } = await requireSigner(ctx, fields)
  if (accountType === 'EOA') return
  const chain = requireChain(ctx, blockchain)
  if (!(await answered(ctx, chain, contractsOn(chain).hasCode(address))))
    throw new ApiError('smartAccountNotDeployed')
}

/** The 32 bytes that the key of a wallet signs for a hash; those of a smart account are bound to it and its chain. */
export function digestFor(ctx: Ctx, { accountType, blockchain, address }: Wallet, hash: Buffer): Buffer {
  if (accountType === 'EOA') return hash
  return accountMessageDigest(requireChain(ctx, blockchain).network.chainId, address, hash)
}

export type Signing = {
  digest: Buffer
  /** The operation that the signature permits its holder. */
  operation: Operation
  memo: string | undefined
}

/** The only place that signs for a caller who then holds the signature: policy decides first, the audit log records it. */
export async function sign(ctx: Ctx, opener: KeyOpener, wallet: Wallet, signing: Signing) {
  const { digest, operation, memo } = signing
  await requireNotHalted(ctx.db, wallet.blockchain)
  await requireUnlisted(ctx, wallet, operation)
  const request = { intentId: newId(ctx.receivedMs), intent: digest, operation }
  const decision = await decidePolicy(ctx, wallet, request)
  const signature = await signNow(ctx, opener, decision)
  const { actor, requestId } = ctx
  const what = { operation: operation.kind, digest: hexOf(digest), blockchain: wallet.blockchain }
  const data = { ...what, policy: decision.evidence, ...(memo && { memo }) }
  await recordChanges(ctx.db, ctx.receivedMs, [
    { entityId: ctx.entity.id, actor, requestId, type: 'wallet.signed', resourceId: wallet.id, data },
  ])
  return signature
}

/** Throws `screeningDenied` unless all whom the signature concerns are cleared: a signature in a caller's hands cannot wait for an operator. */
async function requireUnlisted(ctx: Ctx, { blockchain }: Wallet, operation: Operation): Promise<void> {
  if (operation.kind === 'signTransaction' && operation.dangers.includes('undecodable'))
    throw new ApiError(
      'screeningDenied',
      'The call is not understood to its last byte and may pay anyone: nothing was signed.',
    )
  const concerned = counterpartiesOf(blockchain, operation)
  if (concerned.length === 0) return
  await shareLists(ctx.db)
  const [decision] = await screenRecipients(ctx, [concerned])
  const { ruleName, actions } = decision!
  if (actions.includes('APPROVE')) return
  throw new ApiError('screeningDenied', `${ruleName} does not let a recipient be paid: nothing was signed.`)
}
