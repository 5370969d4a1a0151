/** Batches of payments on Aptos, from inside and outside, with the published SDK of Aptos as payer and as the reader of the chain. */
import { randomBytes, randomUUID } from 'node:crypto'
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOfBytes } from '#chains/aptos/encoding/addresses'
import { aptosTestnet } from '#chains/networks/aptos-testnet'
import type { Hex } from '#lib/hex'
import type { AptosNode } from '#sandbox/chains/aptos/index'
import { sandboxApiKey, sandboxEntity, sandboxEntitySecret } from '#sandbox/credentials'
import { dataOf } from '#testing/builders/world'
import { cloneDatabase } from '#testing/databases/database'
import { urlOf } from '#testing/databases/database-clone'
import { addressOfAccount, aptosClient } from '#testing/nodes/aptos-clients'
import { Account } from '#testing/nodes/aptos-sdk'
import { openLocalAptos } from '#testing/nodes/local-aptos'
import { type Tenant, tenantOf } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { openWebhookReceiver, type WebhookReceiver } from '#testing/servers/webhook-receiver'

const { blockchain, nativeToken, tokens } = aptosTestnet
const usdc = tokens.find(({ symbol }) => symbol === 'USDC')! as (typeof tokens)[number] & { address: Hex }
const stranger = () => addressOfBytes(randomBytes(32)) as Hex
/** An address whose leading zeros nodes leave out. */
const ledByZeros = () => addressOfBytes(Buffer.concat([Buffer.alloc(2), randomBytes(30)])) as Hex
const upper = (address: string) => address.toUpperCase().replace('0X', '0x')
const fullForm = (short: string) => `0x${short.slice(2).padStart(64, '0')}`
const batchFunction = '0x1::aptos_account::batch_transfer_fungible_assets'
const batchSignature =
  'aptos_account::batch_transfer_fungible_assets(metadata:object::Object<fungible_asset::Metadata>,recipients:vector<address>,amounts:vector<u64>)'
const apt = 10n ** 8n

type Wallet = { id: string; address: Hex }
// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any

/** Milliseconds by which the time of blocks is ahead. */
let leadMs = 0
let node: AptosNode
let worker: Worker
let tenant: Tenant
let cloned: Awaited<ReturnType<typeof cloneDatabase>>
let client: ReturnType<typeof initiateDeveloperControlledWalletsClient>
let payer: Wallet
let newWallets: (count: number) => Promise<Wallet[]>

beforeAll(async () => {
  cloned = await cloneDatabase('seeded')
  const { connection } = cloned
  const local = await openLocalAptos(() => Date.now() + leadMs)
  node = local.node
  worker = await spawnWorker()
  const roles = ['api', 'indexer', 'transactions', 'tokens', 'reviews', 'reconciler', 'webhooks'] as const
  await worker.open({ connection, rpcUrl: node.url, blockchain, roles, logLevel: 'error' })
  const baseUrl = (await worker.start())!
  const credentials = { apiKey: sandboxApiKey, entitySecret: sandboxEntitySecret }
  tenant = tenantOf(baseUrl, { entityId: sandboxEntity.id, ...credentials })
  client = initiateDeveloperControlledWalletsClient({ ...credentials, baseUrl })
  const { walletSet } = (await client.createWalletSet({ name: 'Batches' })).data!
  newWallets = async (count) => {
    const asked = { walletSetId: walletSet!.id!, blockchains: [blockchain] as never[], count }
    return (await client.createWallets(asked)).data!.wallets as never
  }
  payer = (await newWallets(1))[0]!
  node.fund(payer.address, 10n * apt)
  node.fund(payer.address, 1_000_000_000n, usdc.address)
  await until(async () => (await balancesOf(payer))[usdc.id] === '1000', 'the coins are booked')
})
afterAll(async () => {
  worker?.signal('SIGKILL')
  await worker?.exited
  await node?.close()
  await cloned?.drop()
})

const get = async (path: string): Promise<Shown> => dataOf(await tenant.http('GET', path), path)
const read = async (id: string): Promise<Shown> => (await get(`/v1/w3s/transactions/${id}`)).transaction
const ended = async (id: string): Promise<Shown> => {
  let shown: Shown
  await until(async () => {
    shown = await read(id)
    return ['COMPLETE', 'FAILED', 'DENIED', 'CANCELLED'].includes(shown.state)
  }, `${id} ends`)
  return shown
}

/** Balances by the id of the token, as lists show them. */
async function balancesOf({ id }: Wallet, query = ''): Promise<Record<string, string>> {
  const { tokenBalances } = await get(`/v1/w3s/wallets/${id}/balances${query}`)
  return Object.fromEntries(tokenBalances.map(({ token, amount }: Shown) => [token.id, amount]))
}

const inUsdc = (atomic: bigint): string => String(Number(atomic) / 1e6)
/** Waits until the books of a wallet have the dollars that the chain has. */
const untilBooked = (wallet: Wallet) =>
  until(
    async () =>
      ((await balancesOf(wallet, '?includeAll=true'))[usdc.id] ?? '0') ===
      inUsdc(node.balanceOf(wallet.address, usdc.address)),
    `the books have the balance of ${wallet.address}`,
  )

const receivedBy = async ({ id }: Wallet): Promise<Shown[]> =>
  (await get(`/v1/w3s/transactions?walletIds=${id}&txType=INBOUND&pageSize=50`)).transactions

/** The payments that a wallet received, once all are complete and its balance is that of the chain. */
async function untilReceived(wallet: Wallet): Promise<Shown[]> {
  let received: Shown[] = []
  await untilBooked(wallet)
  await until(async () => {
    received = await receivedBy(wallet)
    return received.length > 0 && received.every(({ state }) => state === 'COMPLETE')
  }, `${wallet.address} has received`)
  return received
}

async function pay(recipients: readonly string[], amounts: readonly string[]): Promise<string> {
  const body = {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await tenant.sealSecret(),
    walletId: payer.id,
    contractAddress: '0x1',
    abiFunctionSignature: batchSignature,
    abiParameters: [usdc.address, recipients, amounts],
    feeLevel: 'MEDIUM',
  }
  const answer = await tenant.http('POST', '/v1/w3s/developer/transactions/contractExecution', { body })
  return dataOf(answer, 'a batch').id
}

/** Runs `bezant screening` as an operator does. */
const bezant = async (...args: string[]) => {
  const env = { DATABASE_URL: urlOf(cloned.connection) }
  const { code, stderr } = await runCommand({ command: 'screening', args, env })
  expect(code, stderr).toBe(0)
}
const listing = (address: string, chain: string) => [address, '--chain', chain, '--list', 'block']

describe('property 229: a batch with a listed recipient', () => {
  it.each([
    ['in the middle, listed on the main network in capitals', 5, 2, 'APTOS', upper],
    ['first, listed on the test network', 2, 0, 'APTOS-TESTNET', (address: string) => address],
    ['last of as many as a batch has', 500, 499, 'APTOS', (address: string) => address],
  ] as const)('pays nobody: %s', async (_, count, place, chain, written) => {
    const recipients: string[] = Array.from({ length: count }, stranger)
    const listed = ledByZeros()
    await bezant('add', ...listing(written(listed), chain))
    recipients[place] = written === upper ? listed : upper(listed)
    const before = [node.balanceOf(payer.address), node.balanceOf(payer.address, usdc.address)]
    const denied = await ended(
      await pay(
        recipients,
        recipients.map(() => '1000'),
      ),
    )
    expect(denied).toMatchObject({ state: 'DENIED' })
    expect(denied.txHash).toBeUndefined()
    const { actions, reasons } = denied.transactionScreeningEvaluation
    expect(actions).toContain('DENY')
    expect(reasons.map(({ sourceValue }: Shown) => sourceValue)).toEqual([listed])
    for (const each of recipients) expect(node.balanceOf(each.toLowerCase() as Hex, usdc.address)).toBe(0n)
    expect([node.balanceOf(payer.address), node.balanceOf(payer.address, usdc.address)]).toEqual(before)
    await bezant('remove', ...listing(listed, 'APTOS'))
    const sent = await ended(await pay([recipients[place]], ['1000']))
    expect([sent.state, node.balanceOf(listed as Hex, usdc.address)]).toEqual(['COMPLETE', 1_000n])
  })

  it('names several that are listed, each once, also where one is paid twice', async () => {
    const [one, other] = [stranger(), stranger()]
    for (const each of [one, other]) await bezant('add', ...listing(each, 'APTOS'))
    const amounts = ['1', '1', '1', '1']
    const denied = await ended(await pay([one, stranger(), other, upper(one)], amounts))
    expect(denied.state).toBe('DENIED')
    const named = denied.transactionScreeningEvaluation.reasons.map(({ sourceValue }: Shown) => sourceValue)
    expect(named.sort()).toEqual([one, other].sort())
  })
})

describe('property 229: a batch whose recipient is listed after its signature', () => {
  it('is not made again when its bytes are dead: it ends with nobody paid, and the next one is paid', async () => {
    const recipients = [stranger(), stranger(), stranger()]
    const before = node.balanceOf(payer.address, usdc.address)
    node.setBlocks('by_hand')
    node.setFaults({ losesTransactions: true })
    const id = await pay(recipients, ['1', '1', '1'])
    await until(async () => (await read(id)).state === 'SENT', 'it is sent, and lost')
    const { txHash } = await read(id)
    await bezant('add', ...listing(recipients[1]!, 'APTOS'))
    const next = await pay([recipients[0]!], ['2'])
    leadMs += 620_000
    node.mine()
    node.setFaults({})
    node.setBlocks('each_transaction')
    const denied = await ended(id)
    expect(denied).toMatchObject({ state: 'FAILED', errorReason: 'SCREENING_DENIED' })
    expect(denied.txHash).not.toBe(txHash)
    expect((await ended(next)).state).toBe('COMPLETE')
    expect(recipients.map((each) => node.balanceOf(each, usdc.address))).toEqual([2n, 0n, 0n])
    expect(node.balanceOf(payer.address, usdc.address)).toBe(before - 2n)
  })
})

describe('property 230: a batch to wallets', () => {
  /** The dollars that an outsider pays in one transaction of the SDK; its hash. */
  async function payFromOutside(
    recipients: readonly string[],
    amounts: readonly number[],
    outsider = Account.generate(),
  ) {
    const aptos = aptosClient({ url: node.url, faucetUrl: node.url })
    node.fund(addressOfAccount(outsider), apt)
    node.fund(addressOfAccount(outsider), 1_000_000_000n, usdc.address)
    const transaction = await aptos.transaction.build.simple({
      sender: outsider.accountAddress,
      data: { function: batchFunction, functionArguments: [usdc.address, [...recipients], [...amounts]] },
      options: { expireTimestamp: Math.ceil((Date.now() + leadMs) / 1_000) + 60 },
    })
    const { hash } = await aptos.signAndSubmitTransaction({ signer: outsider, transaction })
    await aptos.waitForTransaction({ transactionHash: hash })
    return { hash, from: addressOfAccount(outsider) }
  }

  it('of somebody outside is received by each with its own amount, once', async () => {
    const [one, other] = (await newWallets(2)) as [Wallet, Wallet]
    // Equal amounts, a payment of nothing, and a wallet that is paid twice.
    const recipients = [one, stranger(), other, one, other].map((each) =>
      typeof each === 'string' ? each : each.address,
    )
    const { hash, from } = await payFromOutside(recipients, [2_500_000, 2_500_000, 2_500_000, 1, 0])
    const shown = async (wallet: Wallet) =>
      (await untilReceived(wallet)).map(({ txHash, sourceAddress, destinationAddress, amounts }) => ({
        txHash,
        sourceAddress,
        destinationAddress,
        amounts,
      }))
    const payment = (wallet: Wallet, amount: string) => ({
      txHash: hash,
      sourceAddress: from,
      destinationAddress: wallet.address,
      amounts: [amount],
    })
    const both = await shown(one)
    expect(both).toHaveLength(2)
    expect(both).toEqual(expect.arrayContaining([payment(one, '2.5'), payment(one, '0.000001')]))
    expect(await shown(other)).toEqual([payment(other, '2.5')])
    expect([await balancesOf(one), await balancesOf(other)]).toEqual([
      { [usdc.id]: '2.500001' },
      { [usdc.id]: '2.5' },
    ])
  })

  it('of somebody who is listed waits for an operator at each of them, and at no other', async () => {
    const [one, other] = (await newWallets(2)) as [Wallet, Wallet]
    let outsider = Account.generate()
    // Nodes leave out the zeros of the sender.
    while (!addressOfAccount(outsider).startsWith('0x0')) outsider = Account.generate()
    await bezant('add', ...listing(upper(addressOfAccount(outsider)), 'APTOS'))
    const { hash } = await payFromOutside([one.address, stranger(), other.address], [5, 5, 7], outsider)
    const received = [...(await untilReceived(one)), ...(await untilReceived(other))]
    expect(received).toMatchObject([{ txHash: hash }, { txHash: hash }])
    const pending = async () =>
      (await get('/operator/reviews')).filter(({ state }: Shown) => state === 'pending')
    expect((await pending()).map(({ id }: Shown) => id).sort()).toEqual(received.map(({ id }) => id).sort())
    for (const { id } of received) {
      const body = { reason: 'the sender is known' }
      expect((await tenant.http('POST', `/operator/reviews/${id}/approve`, { body })).status).toBe(200)
    }
    expect(await pending()).toEqual([])
  })

  it('of another one is one payment out and one in for each, and the books agree with the chain', async () => {
    const receiver: WebhookReceiver = await openWebhookReceiver((...asked) => tenant.http(...asked))
    const subscribed = { endpoint: receiver.url, notificationTypes: ['transactions.*'] }
    const subscription = dataOf(
      await tenant.http('POST', '/v2/notifications/subscriptions', { body: subscribed }),
      'a subscription',
    )
    try {
      const [one, other] = (await newWallets(2)) as [Wallet, Wallet]
      const outside = stranger()
      const recipients = [one.address, outside, payer.address, other.address]
      const id = await pay(recipients, ['1500000', '3', '7', '2500000'])
      const sent = await ended(id)
      expect(sent).toMatchObject({ state: 'COMPLETE', transactionType: 'OUTBOUND', walletId: payer.id })
      await untilBooked(payer)
      expect(node.balanceOf(outside, usdc.address)).toBe(3n)
      const inbound: Shown[] = []
      for (const [wallet, amount] of [
        [one, '1.5'],
        [other, '2.5'],
      ] as const) {
        const received = await untilReceived(wallet)
        expect(received).toMatchObject([
          { txHash: sent.txHash, sourceAddress: payer.address, amounts: [amount], walletId: wallet.id },
        ])
        inbound.push(received[0])
      }
      const { transactions } = await get(
        `/v1/w3s/transactions?walletIds=${payer.id}&txType=OUTBOUND&pageSize=50`,
      )
      expect(transactions.filter(({ txHash }: Shown) => txHash === sent.txHash)).toHaveLength(1)
      const completeOf = (wanted: string) =>
        receiver
          .webhooks()
          .filter(({ notification }) => notification.id === wanted && notification.state === 'COMPLETE')
          .map(({ notificationType }) => notificationType)
      const all = [id, ...inbound.map((each) => each.id)]
      await until(() => all.every((each) => completeOf(each).length > 0), 'the webhooks arrive')
      expect(all.map(completeOf)).toEqual([
        ['transactions.outbound'],
        ['transactions.inbound'],
        ['transactions.inbound'],
      ])
    } finally {
      await tenant.http('DELETE', `/v2/notifications/subscriptions/${subscription.id}`)
      await receiver.close()
    }
    const comparedTo = async () =>
      (await get('/operator/overview')).proof.blockNumberByBlockchain[blockchain] ?? 0
    const before = await comparedTo()
    node.fund(payer.address, 1n, usdc.address)
    await until(async () => (await comparedTo()) > before, 'the books are compared')
    expect(await get(`/operator/reconciliations?blockchain=${blockchain}`)).toEqual([])
  })

  it('that aborts pays nobody and is received by nobody', async () => {
    const [own] = (await newWallets(1)) as [Wallet]
    const outside = stranger()
    const left = node.balanceOf(payer.address, usdc.address)
    const body = {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await tenant.sealSecret(),
      walletId: payer.id,
      contractAddress: '0x1',
      abiFunctionSignature: batchSignature,
      abiParameters: [usdc.address, [own.address, outside], ['5', String(left)]],
      gasLimit: '5000',
      gasPrice: '100',
    }
    const answer = await tenant.http('POST', '/v1/w3s/developer/transactions/contractExecution', { body })
    if (answer.status === 201)
      expect(await ended(answer.body.data.id)).toMatchObject({
        state: expect.stringMatching(/^(FAILED|DENIED)$/),
      })
    else expect([answer.status, answer.body.errors?.[0].location], answer.text).toEqual([400, 'walletId'])
    expect([node.balanceOf(own.address, usdc.address), node.balanceOf(outside, usdc.address)]).toEqual([
      0n,
      0n,
    ])
    await untilBooked(payer)
    expect(await receivedBy(own)).toEqual([])
  })
})

describe('property 231: monitored tokens of Aptos', () => {
  it('choose the balances that are shown, by the tokens of the network, and are found by their address in any case', async () => {
    const ids = async (query: object = {}) =>
      (await client.listMonitoredTokens(query as never)).data!.tokens!.map(({ id }) => id).sort()
    const both = [usdc.id, nativeToken.id].sort()
    expect(Object.keys(await balancesOf(payer)).sort()).toEqual(both)
    const { tokens: added } = (await client.createMonitoredTokens({ tokenIds: [usdc.id] })).data!
    expect(added).toMatchObject([
      { id: usdc.id, blockchain, standard: 'FungibleAsset', decimals: 6, tokenAddress: usdc.address },
    ])
    expect(Object.keys(await balancesOf(payer))).toEqual([usdc.id])
    expect(Object.keys(await balancesOf(payer, '?includeAll=true')).sort()).toEqual(both)
    for (const query of [{ blockchain }, { tokenAddress: upper(usdc.address) }, { symbol: 'USDC' }])
      expect(await ids(query)).toEqual([usdc.id])
    expect(await ids({ blockchain: 'APTOS' })).toEqual([])
    const filtered = async (tokenAddress: string) =>
      Object.keys(await balancesOf(payer, `?tokenAddress=${tokenAddress}`))
    expect(await filtered(upper(usdc.address))).toEqual([usdc.id])
    expect(await filtered(stranger())).toEqual([])
    const { tokens: replaced } = (await client.updateMonitoredTokens({ tokenIds: [nativeToken.id] })).data!
    expect(replaced).toMatchObject([{ id: nativeToken.id, blockchain, isNative: true, decimals: 8 }])
    expect(Object.keys(await balancesOf(payer))).toEqual([nativeToken.id])
    // What is not monitored is booked all the same.
    const held = node.balanceOf(payer.address, usdc.address)
    node.fund(payer.address, 1n, usdc.address)
    await untilBooked(payer)
    expect((await balancesOf(payer, '?includeAll=true'))[usdc.id]).toBe(inUsdc(held + 1n))
    await client.updateMonitoredTokensScope({ scope: 'MONITOR_ALL' as never })
    expect(Object.keys(await balancesOf(payer)).sort()).toEqual(both)
    expect(await ids()).toEqual([nativeToken.id])
    const unknown = await tenant.http('POST', '/v1/w3s/config/entity/monitoredTokens', {
      body: { tokenIds: [usdc.id, randomUUID()] },
    })
    expect([unknown.status, unknown.body.errors[0].location]).toEqual([404, 'tokenIds[1]'])
    await client.deleteMonitoredTokens({ tokenIds: [nativeToken.id] })
    expect(await ids()).toEqual([])
  })
})

describe('property 232: an account of Aptos in another form', () => {
  it.each(['0x1', '0xa', '0xF'])('is the same for lists, looked up and screened: %s', async (short) => {
    const canonical = short.toLowerCase()
    const forms = [short, canonical, fullForm(canonical), upper(fullForm(canonical))]
    const entriesOf = async (address: string) =>
      (await get(`/operator/screeningListEntries?chain=${blockchain}&address=${address}`)).entries
    for (const form of forms) {
      await bezant('add', ...listing(form, 'APTOS'))
      for (const asked of forms) {
        expect(await entriesOf(asked)).toMatchObject([{ list: 'block' }])
        const body = { idempotencyKey: randomUUID(), chain: blockchain, address: asked }
        const screened = await tenant.http('POST', '/v1/w3s/compliance/screening/addresses', { body })
        expect(screened.body.data.result).toBe('DENIED')
      }
      await bezant('remove', ...listing(forms.at(-1)!, blockchain))
      expect(await entriesOf(form)).toEqual([])
    }
  })

  it('that leaves zeros out is refused wherever an operator writes it or a transfer names it', async () => {
    const trimmed = ['0x01', `0x${'7'.repeat(63)}`, `0x0${'7'.repeat(62)}`]
    for (const address of trimmed) {
      const env = { DATABASE_URL: urlOf(cloned.connection) }
      const args = ['add', ...listing(address, 'APTOS')]
      const { code, stderr } = await runCommand({ command: 'screening', args, env })
      expect([code, stderr]).toEqual([2, expect.stringContaining(`"${address}" is no address of APTOS`)])
      const { body } = await tenant.http(
        'GET',
        `/operator/screeningListEntries?chain=${blockchain}&address=${address}`,
      )
      expect([body.code, body.errors[0].location]).toEqual([280002, 'address'])
      await expect(pay([stranger(), address], ['1', '1'])).rejects.toThrow('abiParameters[1][1]')
    }
  })
})
