import { randomBytes, randomUUID } from 'node:crypto'
import { stablecoinsOf } from '#chains/network'
import { networks } from '#chains/networks/index'
import { post } from '#engines/ledger/index'
import { sql } from '#runtime/db/db'
import type { Harness } from '#testing/platform/harness'
import type { HttpAnswer, Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { deployCollection } from './any-tokens.ts'

/** Resources that tests need, made through the API and remembered, so that each is made at most once per world. */
export type World = {
  harness: Harness
  tenant: Tenant
  /** Makes a request that must succeed and returns the content of `data`. */
  // biome-ignore lint/suspicious/noExplicitAny: every answer has its own shape
  call(method: string, path: string, body?: object): Promise<any>
  walletSet(): Promise<WalletSet>
  wallet(): Promise<Wallet>
  /** A wallet that owns 1,000 USDC and 10 native coins, as the API sees it too. */
  fundedWallet(): Promise<Wallet>
  /** An ERC-1155 contract, of whose items 0 and 1 the funded wallet has a million each, as the API sees it too. */
  collection(): Promise<{ address: string }>
  /** An ERC-721 contract, of which the funded wallet has item 0, as the API sees it too. */
  pictures(): Promise<{ address: string }>
  paymentIntent(): Promise<PaymentIntent>
  payment(): Promise<{ id: string }>
  /** An intent to which 1,000 USDC were paid. */
  paidIntent(): Promise<PaymentIntent>
  recipient(): Promise<Recipient>
  /** A recipient that can be paid, a thousand dollars to pay with, and a payout. */
  payee(): Promise<Recipient>
  money(): Promise<void>
  payout(): Promise<{ id: string }>
  /** An active address of the merchant's own, as the destination of transfers. */
  ownAddress(): Promise<Recipient>
  businessTransfer(): Promise<{ id: string }>
  transfer(): Promise<{ id: string }>
  /** A sent transfer to accelerate, or one to cancel. */
  sentTransfer(purpose: 'accelerate' | 'cancel'): Promise<{ id: string }>
  usdcId: string
  /** The tokens of the first chain, its native coin included. */
  tokenIds(): string[]
}

/** A client of a merchant: its requests must succeed. */
type Caller = Pick<World, 'call'>

export type WalletSet = { id: string }
export type Wallet = { id: string; address: string; blockchain: string }
export type Recipient = { id: string; address: string; status: string }
export type PaymentIntent = { id: string; depositAddress: string }

/** A number that is new in each call, so that generated addresses and amounts differ from each other. */
let count = 0
export const nextCount = () => ++count
export const freshAddress = () =>
  `0x${(0xfeed_0000_0000_0000n + BigInt(nextCount())).toString(16).padStart(40, '0')}`

export function worldOf(harness: Harness, tenant: Tenant = harness): World {
  const { blockchain } = harness.chain()
  const network = networks.find((each) => each.blockchain === blockchain)!
  const call = async (method: string, path: string, body?: object) => {
    const answer = await tenant.http(method, path, body === undefined ? {} : { body })
    return dataOf(answer, `${method} ${path}`)
  }
  const once = <Made>(make: () => Promise<Made>) => {
    let made: Promise<Made> | undefined
    return () => (made ??= make())
  }
  const walletSet = once(async () => (await makeWalletSet(world)).walletSet as WalletSet)
  const wallet = once(() => makeWallet(world))
  const paymentIntent = once(() => makePaymentIntent(world))
  const sent = {
    accelerate: once(() => makeSentTransfer(world)),
    cancel: once(() => makeSentTransfer(world)),
  }
  const world: World = {
    harness,
    tenant,
    call,
    walletSet,
    wallet,
    fundedWallet: once(async () => {
      const made = await makeWallet(world)
      await harness.fundWallet(made.address, { usdc: '1000', native: '10', blockchain })
      await until(async () => {
        const { tokenBalances } = await call('GET', `/v1/w3s/wallets/${made.id}/balances`)
        return tokenBalances.length >= 2
      }, 'the funded wallet shows its balances')
      return made
    }),
    collection: once(() => makeCollection(world)),
    pictures: once(() => makePictures(world)),
    paymentIntent,
    payment: once(async () => makePayment(world, (await paymentIntent()).depositAddress)),
    recipient: once(() => makeRecipient(world)),
    payee: once(() => makeActiveRecipient(world)),
    ownAddress: once(() => makeActiveAddress(world)),
    businessTransfer: once(async () => {
      await world.money()
      return makeBusinessTransfer(world)
    }),
    paidIntent: once(() => makePaidIntent(world, 1_000_000_000n)),
    money: once(() => fundMerchantWallet(world, 1_000_000_000n)),
    payout: once(async () => {
      await world.money()
      return makePayout(world)
    }),
    transfer: once(() => makeTransfer(world)),
    sentTransfer: (purpose) => sent[purpose](),
    usdcId: stablecoinsOf(network).find((token) => token.symbol === 'USDC')!.id,
    tokenIds: () => [network.nativeToken.id, ...network.tokens.map((token) => token.id)],
  }
  return world
}

export function dataOf(answer: HttpAnswer, what: string) {
  if (answer.status < 200 || answer.status > 299) throw new Error(`${what}: ${answer.status} ${answer.text}`)
  return answer.body?.data
}

/** A transfer in the state SENT that was never signed: it stays so, whether engines run or not. */
async function makeSentTransfer(world: World): Promise<{ id: string }> {
  const made = await makeTransfer(world)
  const txHash = `0x${made.id.replaceAll('-', '').padEnd(64, '0')}`
  await world.harness.database.run(
    sql`update transactions set state = 'SENT', tx_hash = ${txHash} where id = ${made.id}`,
  )
  return made
}

export async function makeWalletSet(world: World, name = 'A set') {
  const { tenant, call } = world
  const body = { idempotencyKey: randomUUID(), entitySecretCiphertext: await tenant.sealSecret(), name }
  return call('POST', '/v1/w3s/developer/walletSets', body)
}

export async function makeWallet(
  world: World,
  name?: string,
  blockchain = world.harness.chain().blockchain,
): Promise<Wallet> {
  const { tenant, call } = world
  const { wallets } = await call('POST', '/v1/w3s/developer/wallets', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await tenant.sealSecret(),
    walletSetId: (await world.walletSet()).id,
    blockchains: [blockchain],
    count: 1,
    ...(name && { metadata: [{ name }] }),
  })
  return wallets[0]
}

/** Code that returns 42 to any call, and the data that creates such a contract. */
const answerCode = '0x602a60005260206000f3'
export const answerCreation = `0x600a600c600039600a6000f3${answerCode.slice(2)}`

/** Puts a contract at an unused address of the first chain, from outside. */
export async function placeContract({ harness }: World, code = answerCode): Promise<string> {
  const address = freshAddress()
  await harness.chain().rpc('anvil_setCode', [address, code])
  return address
}

export async function makeContract(world: World): Promise<{ id: string; contractAddress: string }> {
  const { contract } = await world.call('POST', '/v1/w3s/contracts/import', {
    idempotencyKey: randomUUID(),
    name: 'Imported',
    address: await placeContract(world),
    blockchain: world.harness.chain().blockchain,
  })
  return contract
}

/** A transfer of USDC, by default to an unused address; `amount` in whole coins. */
export async function makeTransfer(world: World, amount = '0.01', to = freshAddress()) {
  const { tenant, call } = world
  const { id: walletId } = await world.fundedWallet()
  return (await call('POST', '/v1/w3s/developer/transactions/transfer', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await tenant.sealSecret(),
    walletId,
    tokenId: world.usdcId,
    destinationAddress: to,
    amounts: [amount],
    feeLevel: 'MEDIUM',
  })) as { id: string }
}

async function makeCollection(world: World): Promise<{ address: string }> {
  const { address: owner } = await world.fundedWallet()
  const cards = await deployCollection(world.harness.chain(), 'ERC1155', 'Cards')
  // The largest id asks for a new item: the contract numbers them.
  for (const uri of ['ipfs://first', 'ipfs://second'])
    await cards.call('mintTo', [owner, 2n ** 256n - 1n, uri, 1_000_000n])
  await untilShown(world, cards, 2)
  return cards
}

async function makePictures(world: World): Promise<{ address: string }> {
  const { address: owner } = await world.fundedWallet()
  const pictures = await deployCollection(world.harness.chain(), 'ERC721')
  await pictures.call('mintTo', [owner, 'ipfs://picture'])
  await untilShown(world, pictures, 1)
  return pictures
}

const untilShown = (world: World, { address }: { address: string }, count: number) =>
  until(async () => {
    const { id } = await world.fundedWallet()
    const { nfts } = await world.call('GET', `/v1/w3s/wallets/${id}/nfts?tokenAddress=${address}`)
    return nfts.length === count
  }, 'the funded wallet shows its items')

/** An intent of the continuous kind, with the address it waits at. */
export async function makePaymentIntent(world: Caller, chain = 'BASE'): Promise<PaymentIntent> {
  const { id } = await world.call('POST', '/v1/paymentIntents', {
    idempotencyKey: randomUUID(),
    currency: 'USD',
    settlementCurrency: 'USD',
    type: 'continuous',
    paymentMethods: [{ type: 'blockchain', chain }],
  })
  let depositAddress: string | undefined
  await until(async () => {
    const intent = await world.call('GET', `/v1/paymentIntents/${id}`)
    depositAddress = intent.paymentMethods?.[0]?.address
    return depositAddress !== undefined
  }, 'the intent has its deposit address')
  return { id, depositAddress: depositAddress! }
}

/** An intent of the transient kind that waits for 3 USDC. */
export const makeTransientIntent = (world: Caller): Promise<{ id: string }> =>
  world.call('POST', '/v1/paymentIntents', {
    idempotencyKey: randomUUID(),
    type: 'transient',
    amount: { amount: '3.00', currency: 'USD' },
    settlementCurrency: 'USD',
    paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
  })

/** A recipient on BASE. */
export const makeRecipient = (world: Caller, fields: object = {}): Promise<Recipient> =>
  world.call('POST', '/v1/addressBook/recipients', {
    idempotencyKey: randomUUID(),
    chain: 'BASE',
    address: freshAddress(),
    metadata: { nickname: 'Ada', email: 'ada@example.com' },
    ...fields,
  })

/** A recipient that can be paid. */
export async function makeActiveRecipient(world: Caller, fields: object = {}): Promise<Recipient> {
  const made = await makeRecipient(world, fields)
  await until(async () => {
    const { status } = await world.call('GET', `/v1/addressBook/recipients/${made.id}`)
    return status === 'active'
  }, 'the recipient is active')
  return made
}

/** A withdrawal address on BASE. */
export const makeRecipientAddress = (world: Caller, fields: object = {}): Promise<Recipient> =>
  world.call('POST', '/v1/businessAccount/wallets/addresses/recipient', {
    idempotencyKey: randomUUID(),
    chain: 'BASE',
    address: freshAddress(),
    description: 'Our cold wallet',
    ...fields,
  })

/** A deposit by wire. */
export async function makeDeposit(world: World, amount = '12.34'): Promise<{ id: string; status: string }> {
  await world.call('POST', '/v1/mocks/payments/wire', {
    trackingRef: 'CIR2Y3BBTP',
    amount: { amount, currency: 'USD' },
    beneficiaryBank: { accountNumber: '11111111111' },
  })
  const [newest] = await world.call('GET', '/v1/businessAccount/deposits')
  return newest
}

/** Pays USDC from outside to a deposit address; resolves when the payment is listed. */
export async function makePayment(world: World, depositAddress: string): Promise<{ id: string }> {
  const amountAtomic = 1_000_000n + BigInt(nextCount())
  const txHash = await world.harness.chain().send(depositAddress, amountAtomic, 'USDC')
  let found: { id: string; transactionHash?: string } | undefined
  await until(async () => {
    const payments = (await world.call('GET', '/v1/payments')) as { id: string; transactionHash?: string }[]
    found = payments.find((payment) => payment.transactionHash === txHash)
    return found !== undefined
  }, 'the payment is listed')
  return found!
}

/** Adds this amount to the merchant's wallet by a payment to one of its deposit addresses. */
export async function fundMerchantWallet(world: World, amountAtomic: bigint, chain = 'BASE'): Promise<void> {
  await makePaidIntent(world, amountAtomic, chain)
}

export async function makePaidIntent(
  world: World,
  amountAtomic: bigint,
  chain = 'BASE',
): Promise<PaymentIntent> {
  const intent = await makePaymentIntent(world, chain)
  const network = networks.find((each) => each.businessChain === chain && each.environment === 'TEST')!
  await world.harness.chain(network.blockchain).send(intent.depositAddress, amountAtomic, 'USDC')
  await until(async () => {
    const { amountPaid } = await world.call('GET', `/v1/paymentIntents/${intent.id}`)
    return amountPaid.amount !== '0.00'
  }, 'the money is credited')
  return intent
}

/** A payout of USD to the world's recipient; `amount` in whole units. */
export const makePayout = async (world: World, fields: object = {}): Promise<{ id: string }> =>
  world.call('POST', '/v1/payouts', {
    idempotencyKey: randomUUID(),
    destination: { type: 'address_book', id: (await world.payee()).id },
    amount: { amount: '0.01', currency: 'USD' },
    ...fields,
  })

/** An address of the merchant's own that can be withdrawn to. */
export async function makeActiveAddress(world: Caller, fields: object = {}): Promise<Recipient> {
  const made = await makeRecipientAddress(world, fields)
  await until(async () => {
    const stored: Recipient[] = await world.call('GET', '/v1/businessAccount/wallets/addresses/recipient')
    return stored.some(({ id, status }) => id === made.id && status === 'active')
  }, 'the recipient address is active')
  return made
}

/** A transfer of USD to an address of the merchant's own. */
export const makeBusinessTransfer = async (world: World, fields: object = {}): Promise<{ id: string }> =>
  world.call('POST', '/v1/businessAccount/transfers', {
    idempotencyKey: randomUUID(),
    destination: { type: 'verified_blockchain', addressId: (await world.ownAddress()).id },
    amount: { amount: '0.01', currency: 'USD' },
    ...fields,
  })

/** One more ledger account, of an address that no entity manages. */
export async function makeAccount(world: World): Promise<{ id: string }> {
  const { harness, tenant, usdcId } = world
  const { ctx } = harness
  const address = freshAddress()
  const blockchain = harness.chain().blockchain
  await ctx.database.tx((tx) =>
    post(tx, ctx.clock.nowMs(), [
      {
        entityId: tenant.entityId,
        blockchain,
        blockHash: `0x${randomBytes(32).toString('hex')}`,
        fact: 'made',
        entries: [
          { kind: 'address', tokenId: usdcId, address, amountAtomic: 1n },
          { kind: 'outside', tokenId: usdcId, amountAtomic: -1n },
        ],
      },
    ]),
  )
  const [made] = await world.call('GET', `/operator/accounts?address=${address}`)
  return made
}
