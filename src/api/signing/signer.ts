import { answered } from '#api/fees/estimate'
import { requireChain } from '#api/sources/connected-chain'
import { requireSource, type SourceFields } from '#api/sources/source'
import { onOtherEnvironment } from '#api/sources/usable-chains'
import { type Blockchain, environmentOf, isVirtual } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import { contractsOn } from '#chains/facets/optional'
import type { WalletAccount, WalletSigning } from '#chains/facets/signing'
import { accountMessageDigest, signingOn } from '#chains/signing'
import { type EntitySecret, type KeyOpener, ledgerDigest, openSecretOf, signNow } from '#custody/index'
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

/** The kinds of payloads that a wallet can sign, with their names in errors. */
const payloadNames = {
  message: 'messages',
  typedData: 'typed data',
  transaction: 'transactions',
  delegateAction: 'delegate actions',
} as const satisfies Record<keyof WalletSigning, string>

type PayloadKind = keyof typeof payloadNames

/** A wallet, its address and blockchain as those of an account, and how it signs the kind of payload. */
type SigningWallet<Kind extends PayloadKind> = {
  wallet: Wallet
  account: WalletAccount
  read: NonNullable<WalletSigning[Kind]>
}

/** The wallet that signs. Under EVM and EVM-TESTNET, an address that is known on any blockchain is known there as well. */
export async function requireSigner<Kind extends PayloadKind>(
  ctx: Ctx,
  fields: SignerFields,
  kind: Kind,
): Promise<SigningWallet<Kind>> {
  const blockchain = fields.blockchain as Blockchain | undefined
  if (blockchain !== undefined) requireSigning(blockchain, 'blockchain', 'has wallets that sign no', kind)
  if (blockchain !== undefined && environmentOf(blockchain) !== ctx.entity.environment)
    throw onOtherEnvironment(ctx, 'blockchain', blockchain)
  const wallet = await requireSource(ctx, fields, findSigner)
  const account = { blockchain: wallet.blockchain as Blockchain, address: wallet.address }
  const read = requireSigning(
    account.blockchain,
    'walletId',
    'is of a blockchain whose wallets sign no',
    kind,
  )
  return { wallet, account, read }
}

function requireSigning<Kind extends PayloadKind>(
  blockchain: Blockchain,
  at: string,
  reason: string,
  kind: Kind,
): NonNullable<WalletSigning[Kind]> {
  const read = signingOn(blockchain)[kind]
  if (read) return read
  throw invalid({
    at,
    reason: `${reason} ${payloadNames[kind]}`,
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

/** Prepares a signature of this kind: its `tx` must neither decrypt nor wait for a node. */
export const prepareSigning =
  (kind: PayloadKind) =>
  async (
    ctx: Ctx,
    input: { body: SignerFields & { entitySecretCiphertext: string } },
  ): Promise<EntitySecret> => {
    const secret = await openSecretOf(ctx, input)
    await requireVerifiable(ctx, input.body, kind)
    return secret
  }

/**
 * Throws 155517 for a smart account that is not deployed: nothing could verify its signature (ERC-1271) before. Asks the node
 * of its chain, so never in a `tx`.
 */
export async function requireVerifiable(ctx: Ctx, fields: SignerFields, kind: PayloadKind): Promise<void> {
  const { accountType, blockchain, address } = (await requireSigner(ctx, fields, kind)).wallet
  if (accountType === 'EOA') return
  const chain = requireChain(ctx, blockchain)
  if (!(await answered(ctx, chain, contractsOn(chain).hasCode(address))))
    throw new ApiError('smartAccountNotDeployed')
}

/** The bytes that the key of a wallet signs; those of a smart account are bound to it and its chain. */
export function payloadFor(ctx: Ctx, { accountType, blockchain, address }: Wallet, payload: Buffer): Buffer {
  if (accountType === 'EOA') return payload
  return accountMessageDigest(requireChain(ctx, blockchain).network.chainId, address, payload)
}

export type Signing = {
  payload: Buffer
  /** The operation that the signature permits its holder. */
  operation: Operation
  memo: string | undefined
}

/** The only place that signs for a caller who then holds the signature: policy decides first, the audit log records it. */
export async function sign(ctx: Ctx, opener: KeyOpener, wallet: Wallet, signing: Signing) {
  const { payload, operation, memo } = signing
  await requireNotHalted(ctx.db, wallet.blockchain)
  await requireUnlisted(ctx, wallet, operation)
  const request = { intentId: newId(ctx.receivedMs), intent: payload, operation }
  const decision = await decidePolicy(ctx, wallet, request)
  const signature = await signNow(ctx, opener, decision)
  const { actor, requestId } = ctx
  const digest = hexOf(ledgerDigest(capabilitiesOf(wallet.blockchain as Blockchain).keys!, payload))
  const what = { operation: operation.kind, digest, blockchain: wallet.blockchain }
  const data = { ...what, policy: decision.evidence, ...(memo && { memo }) }
  await recordChanges(ctx.db, ctx.receivedMs, [
    { entityId: ctx.entity.id, actor, requestId, type: 'wallet.signed', resourceId: wallet.id, data },
  ])
  return signature
}

const signsTransactions: ReadonlySet<string> = new Set(['signTransaction', 'signDelegateAction'])

/** Throws `screeningDenied` unless all whom the signature concerns are cleared: a signature in a caller's hands cannot wait for an operator. */
async function requireUnlisted(ctx: Ctx, { blockchain }: Wallet, operation: Operation): Promise<void> {
  if (signsTransactions.has(operation.kind) && operation.dangers.includes('undecodable'))
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
