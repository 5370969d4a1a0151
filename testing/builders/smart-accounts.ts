import { randomUUID } from 'node:crypto'
import type { EngineCtx } from '#engines/ctx'
import { startIndexer } from '#engines/indexer/index'
import { startModular } from '#engines/modular/index'
import { startTransactionWorker } from '#engines/transactions/index'
import { journalsOfOthers } from '#engines/transactions/journal/index'
import { journaledResources, startTreasury } from '#engines/treasury/index'
import { newestCore, type ScaCore } from '#lib/sca-cores'
import { until } from '#testing/platform/until'
import type { Wallet, World } from './world.ts'

/** Makes a smart account of a version, which is a setting of sandboxes; it is not deployed. */
export async function makeAccount(world: World, core: ScaCore): Promise<Wallet> {
  const { tenant, harness } = world
  harness.ctx.config.scaCore = core
  const { wallets } = await world.call('POST', '/v1/w3s/developer/wallets', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await tenant.sealSecret(),
    walletSetId: (await world.walletSet()).id,
    blockchains: [harness.chain().blockchain],
    accountType: 'SCA',
  })
  return wallets[0]
}

/** Actions on smart accounts of the first chain, through the API. */
export function accountActions(world: World) {
  const { harness, tenant } = world
  const request = async (from: Wallet) => ({
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await tenant.sealSecret(),
    walletId: from.id,
    feeLevel: 'MEDIUM',
  })
  const read = async (id: string) => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
  const reaches = (id: string, ...states: string[]) =>
    until(async () => states.includes((await read(id)).state), `${id} is ${states}`)
  return {
    read,
    reaches,
    /** Waits until the operation is signed. */
    signed: (id: string) => until(async () => (await read(id)).userOpHash !== undefined, `${id} is signed`),
    /** Makes an account with 1,000 USDC, as the API sees it too. */
    make: async (core = newestCore): Promise<Wallet> => {
      const made = await makeAccount(world, core)
      await harness.fundWallet(made.address, { usdc: '1000' })
      await until(async () => {
        const { tokenBalances } = await world.call('GET', `/v1/w3s/wallets/${made.id}/balances`)
        return tokenBalances.length > 0
      }, 'the account has its coins')
      return made
    },
    transfer: async (from: Wallet, destinationAddress: string, amount = '1'): Promise<string> => {
      const fields = { tokenId: world.usdcId, destinationAddress, amounts: [amount] }
      const body = { ...(await request(from)), ...fields }
      return (await world.call('POST', '/v1/w3s/developer/transactions/transfer', body)).id
    },
    /** The answer to a request to upgrade the account. */
    upgrade: async (wallet: Wallet, fields: object = {}) =>
      harness.http('POST', '/v1/w3s/developer/transactions/walletUpgrade', {
        body: { ...(await request(wallet)), newScaCore: 'circle_6900_singleowner_v2', ...fields },
      }),
    /** The version of the wallet's account. */
    coreOf: async ({ id }: Wallet) => (await world.call('GET', `/v1/w3s/wallets/${id}`)).wallet.scaCore,
    /** Calls the token itself, for an amount that no hold covers. */
    callTransfer: async (from: Wallet, to: string, amountAtomic: bigint): Promise<string> => {
      const body = {
        ...(await request(from)),
        contractAddress: harness.chain().tokens.USDC,
        abiFunctionSignature: 'transfer(address,uint256)',
        abiParameters: [to, String(amountAtomic)],
      }
      return (await world.call('POST', '/v1/w3s/developer/transactions/contractExecution', body)).id
    },
    /** Calls a contract with `callData` and this amount of native coins. */
    callPaying: async (
      from: Wallet,
      contractAddress: string,
      callData: string,
      amount: string,
    ): Promise<string> => {
      const body = { ...(await request(from)), contractAddress, callData, amount }
      return (await world.call('POST', '/v1/w3s/developer/transactions/contractExecution', body)).id
    },
    /** Asserts by the chain that each recipient got one USDC of the account, once. */
    movedOnce: (from: Pick<Wallet, 'address'>, recipients: readonly string[]) => {
      const { oracle, tokens } = harness.chain()
      const moved = { from: from.address, token: tokens.USDC, amountAtomic: 1_000_000n }
      return oracle.checkMovedOnce(recipients.map((to) => ({ ...moved, to })))
    },
  }
}

const starts = {
  indexer: startIndexer,
  transactions: (ctx: EngineCtx) => startTransactionWorker(ctx, journaledResources),
  treasury: (ctx: EngineCtx) => startTreasury(ctx, journalsOfOthers),
  modular: startModular,
}
type EngineName = keyof typeof starts

/** Engines of a harness that a test starts and stops one by one. */
export function separateEngines({ harness }: World) {
  const running = new Map<EngineName, { stop(): Promise<void> }>()
  return {
    start: (...names: EngineName[]) => {
      for (const name of names) if (!running.has(name)) running.set(name, starts[name](harness.ctx))
    },
    stop: async (...names: EngineName[]) => {
      for (const name of names) {
        await running.get(name)?.stop()
        running.delete(name)
      }
    },
  }
}
