import { answered } from '#api/fees/estimate'
import { type FeeFields, parseFeeRequest } from '#api/fees/fee-request'
import { requireChain } from '#api/sources/connected-chain'
import { requireSource, type SourceFields } from '#api/sources/source'
import { accountsOn, contractsOn } from '#chains/facets/optional'
import { type EntitySecret, type KeyOpener, openSecretOf, spendCiphertext } from '#custody/index'
import type { Wallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { type CallRequest, submit } from '#engines/transactions/index'
import { lockUpgrades, upgradeUnderWay } from '#engines/transactions/operations/index'
import { invalid } from '#lib/errors'
import type { ScaCore, UpgradeTarget } from '#lib/sca-cores'

export type UpgradeBody = FeeFields & SourceFields & { newScaCore: UpgradeTarget; refId?: string }

/** The versions that can be upgraded. */
const upgradable: readonly (ScaCore | null)[] = ['circle_4337_v1', 'circle_6900_singleowner_v1']

/** Prepares an upgrade: its `tx` must neither decrypt nor wait for a node. */
export async function prepareUpgrade(
  ctx: Ctx,
  input: { body: UpgradeBody & { entitySecretCiphertext: string } },
) {
  const secret = await openSecretOf(ctx, input)
  await requireUpgradeNow(ctx, input.body)
  return secret
}

/** Throws unless the version of the wallet can be upgraded in the state of its chain. */
export async function requireUpgradeNow(ctx: Ctx, body: UpgradeBody): Promise<void> {
  const wallet = await requireUpgradable(ctx, body)
  if (wallet.scaCore === 'circle_4337_v1') await requireDeployed(ctx, body, wallet)
}

/** Accepts the upgrade of a smart account: a call of itself, whose completion changes the wallet's `scaCore`. */
export async function upgradeWallet(ctx: Ctx, { body }: { body: UpgradeBody }, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  return submitUpgrade(ctx, body, secret)
}

/** Accepts an upgrade that the wallet's key signs. */
export async function submitUpgrade(ctx: Ctx, body: UpgradeBody, opener: KeyOpener) {
  const { id: walletId } = await requireSource(ctx, body)
  await lockUpgrades(ctx.db, ctx.entity.id, walletId)
  // Before the wallet is read: an upgrade that ends in between has changed it by then.
  const underWay = await upgradeUnderWay(ctx.db, ctx.entity.id, walletId)
  const wallet = await requireUpgradable(ctx, body)
  if (underWay)
    throw invalid({
      at: sourceField(body),
      reason: `is being upgraded: wait until the transaction ${underWay.id} has ended`,
      value: walletId,
      kind: 'smartAccountCoreInvalid',
    })
  return submit(ctx, opener, planOf(ctx, body, wallet))
}

/** Checks an upgrade and encodes it. */
export const planUpgrade = async (ctx: Ctx, body: UpgradeBody): Promise<CallRequest> =>
  planOf(ctx, body, await requireUpgradable(ctx, body))

function planOf(ctx: Ctx, body: UpgradeBody, wallet: Wallet): CallRequest {
  const { newScaCore, refId = '' } = body
  const chain = requireChain(ctx, wallet.blockchain)
  const { call, signature, values, gas } = accountsOn(chain).upgrade(wallet.address, newScaCore)
  const fee = parseFeeRequest(body, chain, call, wallet.accountType)
  return {
    wallet,
    chain,
    call,
    fee: { ...fee, gasLimit: fee.gasLimit ?? gas },
    refId,
    shown: {
      operation: 'CONTRACT_EXECUTION',
      contractAddress: call.to,
      abiFunctionSignature: signature,
      abiParameters: values,
      amountText: undefined,
      newCore: newScaCore,
    },
  }
}

/** The field that names the wallet. */
const sourceField = ({ walletId }: SourceFields) => (walletId === undefined ? 'walletAddress' : 'walletId')

async function requireUpgradable(ctx: Ctx, body: UpgradeBody): Promise<Wallet> {
  const wallet = await requireSource(ctx, body)
  const [field, named] = [sourceField(body), body.walletId ?? body.walletAddress]
  if (wallet.accountType === 'EOA')
    throw invalid({
      at: field,
      reason: 'is no smart account, and has no version',
      value: named,
      kind: 'accountTypeUnsupported',
    })
  if (upgradable.includes(wallet.scaCore)) return wallet
  throw invalid({
    at: field,
    reason: `is of the version ${wallet.scaCore}: only ${upgradable.join(' and ')} can be upgraded`,
    value: named,
    kind: 'smartAccountCoreInvalid',
  })
}

async function requireDeployed(ctx: Ctx, body: UpgradeBody, { blockchain, address }: Wallet): Promise<void> {
  const chain = requireChain(ctx, blockchain)
  if (await answered(ctx, chain, contractsOn(chain).hasCode(address))) return
  const reason = 'is not deployed: send its first transaction, and upgrade it when that is complete'
  throw invalid({
    at: sourceField(body),
    reason,
    value: body.walletId ?? address,
    kind: 'upgradeBeforeDeployment',
  })
}
