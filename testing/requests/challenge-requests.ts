import { randomBytes, randomUUID } from 'node:crypto'
import { oncePer } from '#runtime/scheduling/memoize'
import { logInByCommand, sealedApproval } from '#testing/builders/command-logins'
import { freshEmail, logIn } from '#testing/builders/users'
import { freshAddress, type Wallet, type World } from '#testing/builders/world'
import {
  approved,
  newSession,
  type PageSession,
  pin,
  questions,
  sealFields,
  shownChallenge,
} from '#testing/pages/page'
import type { RequestSamples, SampleRequest } from './sample-request.ts'

const blockchainOf = (world: World) => world.harness.chain().blockchain
const token = ({ userToken }: { userToken: string }) => ({ 'X-User-Token': userToken })

/** Makes a challenge of the user. */
export async function askUser(
  world: World,
  session: { userToken: string },
  path: string,
  fields: object = {},
  method = 'POST',
): Promise<string> {
  const body = { idempotencyKey: randomUUID(), ...fields }
  const answer = await world.tenant.http(method, `/v1/w3s/user/${path}`, { body, headers: token(session) })
  if (answer.status !== 201) throw new Error(`no challenge: ${answer.text}`)
  return answer.body.data.challengeId
}

/** A user with a PIN and a wallet. */
export async function makePinUser(world: World): Promise<PageSession & { wallet: Wallet }> {
  const session = await newSession(world)
  const id = await askUser(world, session, 'initialize', { blockchains: [blockchainOf(world)] })
  const { challenge } = await approved(world, session, id, [['N', pin], ...questions])
  const [walletId] = challenge.correlationIds
  const { wallet } = await world.call('GET', `/v1/w3s/wallets/${walletId}`)
  return { ...session, wallet }
}

const pinUser = oncePer((world: World) => makePinUser(world))

/** The user above with a fresh token: older ones end when a suite moves the clock. */
const current = async (world: World) => {
  const { userId, wallet } = await pinUser(world)
  return { ...(await newSession(world, userId)), wallet }
}

/** A transaction of the user, which needs no coins. */
const execution = oncePer(async (world: World) => {
  const { wallet, ...session } = await current(world)
  const id = await askUser(world, session, 'transactions/contractExecution', approvalFrom(world, wallet))
  return (await approved(world, session, id)).challenge.correlationIds[0] as string
})

const transferFrom = (world: World, wallet: Wallet) => ({
  walletId: wallet.id,
  tokenId: world.usdcId,
  destinationAddress: freshAddress(),
  amounts: ['0.01'],
  feeLevel: 'MEDIUM',
})

const approvalFrom = (world: World, { id: walletId }: Wallet) => ({
  walletId,
  contractAddress: world.harness.chain().tokens.USDC,
  abiFunctionSignature: 'approve(address,uint256)',
  abiParameters: [freshAddress(), '7'],
  feeLevel: 'LOW',
})

/** A request of the user with a fresh key, where the operation takes one. */
const ofUser =
  (bodyOf: (world: World, wallet: Wallet) => object, isKeyed = true) =>
  async (world: World): Promise<SampleRequest> => {
    const { wallet, ...session } = await current(world)
    const body = { ...(isKeyed && { idempotencyKey: randomUUID() }), ...bodyOf(world, wallet) }
    return { headers: token(session), body }
  }

/** The same of a user who has no PIN yet. */
const ofNewUser =
  (bodyOf: (world: World) => object) =>
  async (world: World): Promise<SampleRequest> => ({
    headers: token(await newSession(world)),
    body: { idempotencyKey: randomUUID(), ...bodyOf(world) },
  })

const withoutKey = async () => ({ idempotencyKey: 'none' })
const nothingElse = { changes: async () => ({}), refused: withoutKey }
const wallets = (world: World) => ({ blockchains: [blockchainOf(world)], metadata: [{ name: 'one' }] })
const otherWallets = async () => ({ accountType: 'SCA', metadata: [{ name: 'two' }] })

const control = (): RequestSamples => ({
  request: async (world) => ({
    ...(await ofUser(() => ({}))(world)),
    params: { id: await execution(world) },
  }),
  ...nothingElse,
})

const typedData = JSON.stringify({
  domain: { name: 'Shop', chainId: 84532 },
  primaryType: 'Order',
  types: { Order: [{ name: 'item', type: 'string' }] },
  message: { item: 'tea' },
})
const transaction = JSON.stringify({
  to: freshAddress(),
  value: '1',
  gas: '21000',
  nonce: 900,
  chainId: 84532,
  maxFeePerGas: '2000000000',
  maxPriorityFeePerGas: '1000000000',
})
const signTypedData = {
  request: ofUser((_, { id: walletId }) => ({ walletId, data: typedData }), false),
}

async function message(world: World) {
  const { wallet, ...session } = await current(world)
  const id = await askUser(world, session, 'sign/message', { walletId: wallet.id, message: 'hello' })
  return { session, id }
}

/** A user who logs in on a second device, with the recovery secret of the first. */
async function secondDevice(world: World): Promise<SampleRequest> {
  const email = freshEmail()
  const recovery = randomBytes(32)
  const first = await logIn(world, email)
  const begun = await askUser(world, first, 'initialize')
  await approved(world, { userId: '', ...first }, begun, [
    ['D', randomBytes(32)],
    ['R', recovery],
  ])
  const second = { userId: '', ...(await logIn(world, email)) }
  const id = await askUser(world, second, 'wallets', { blockchains: [blockchainOf(world)] })
  const shown = await shownChallenge(world, second, id)
  const submission = sealFields(
    second,
    [shown.user.id, id, 'addDevice'],
    [
      ['R', recovery],
      ['D', randomBytes(32)],
    ],
  )
  return { params: { id }, headers: token(second), body: { submission } }
}

/** A user with a smart account of an earlier version. */
async function oldAccount(world: World): Promise<SampleRequest> {
  const session = await newSession(world)
  const { config } = world.harness.ctx
  config.scaCore = 'circle_6900_singleowner_v1'
  const asked = { blockchains: [blockchainOf(world)], accountType: 'SCA' }
  const id = await askUser(world, session, 'initialize', asked)
  const { challenge } = await approved(world, session, id, [['N', pin], ...questions])
  const [walletId] = challenge.correlationIds
  const body = {
    idempotencyKey: randomUUID(),
    walletId,
    newScaCore: 'circle_6900_singleowner_v2',
    feeLevel: 'LOW',
  }
  return { headers: token(session), body }
}

/** A user of a command-line tool, who is asked for the first wallets. */
async function askedByCommand(world: World) {
  const session = await logInByCommand(world)
  const id = await askUser(world, session, 'initialize', { blockchains: [blockchainOf(world)] })
  return { session, id, request: { params: { id }, headers: token(session) } }
}

/** Sample requests for challenges, and those of the page that approves them. */
export const challengeRequests: Record<string, RequestSamples> = {
  'GET /v1/w3s/sdk/user/challenges/{id}': { request: async (world) => (await askedByCommand(world)).request },
  'POST /v1/w3s/sdk/user/challenges/{id}/approve': {
    request: async (world) => {
      const { session, id, request } = await askedByCommand(world)
      return { ...request, body: await sealedApproval(world, session, id) }
    },
  },
  'POST /v1/w3s/user/initialize': {
    request: ofNewUser(wallets),
    changes: otherWallets,
    refused: async () => ({ metadata: [] }),
  },
  'POST /v1/w3s/user/pin': { request: ofNewUser(() => ({})), ...nothingElse },
  'PUT /v1/w3s/user/pin': { request: ofUser(() => ({})), ...nothingElse },
  'POST /v1/w3s/user/pin/restore': { request: ofUser(() => ({})), ...nothingElse },
  'POST /v1/w3s/user/wallets': {
    request: ofUser(wallets),
    changes: otherWallets,
    refused: async () => ({ metadata: [] }),
  },
  'POST /v1/w3s/user/transactions/transfer': {
    request: ofUser(transferFrom),
    changes: async () => ({
      amounts: ['0.02'],
      destinationAddress: freshAddress(),
      feeLevel: 'HIGH',
      refId: 'x',
    }),
    refused: async () => ({ amounts: ['0'] }),
  },
  'POST /v1/w3s/user/transactions/transfer/estimateFee': {
    request: ofUser(
      (_, { id: walletId }) => ({ walletId, destinationAddress: freshAddress(), amounts: ['0'] }),
      false,
    ),
  },
  'POST /v1/w3s/user/transactions/contractExecution': {
    request: ofUser(approvalFrom),
    changes: async () => ({ abiParameters: [freshAddress(), '8'], feeLevel: 'HIGH' }),
    refused: async () => ({ abiParameters: [] }),
  },
  'POST /v1/w3s/user/transactions/walletUpgrade': {
    request: oldAccount,
    changes: async () => ({ feeLevel: 'HIGH', refId: 'another' }),
    refused: async () => ({ feeLevel: undefined }),
  },
  'POST /v1/w3s/user/transactions/{id}/accelerate': control(),
  'POST /v1/w3s/user/transactions/{id}/cancel': control(),
  'POST /v1/w3s/user/sign/message': {
    request: ofUser((_, { id: walletId }) => ({ walletId, message: 'hello' }), false),
  },
  'POST /v1/w3s/user/sign/typedData': signTypedData,
  'POST /v1/w3s/user/sign/typeData': signTypedData,
  'POST /v1/w3s/user/sign/transaction': {
    request: ofUser((_, { id: walletId }) => ({ walletId, transaction }), false),
  },
  'GET /v1/w3s/user/challenges': { request: async (world) => ({ headers: token(await current(world)) }) },
  'GET /operator/challenges': {
    request: async (world) => ({ query: { userId: (await current(world)).userId } }),
  },
  'POST /operator/users/{id}/unlock': {
    request: async (world) => ({
      params: { id: (await current(world)).userId },
      body: { secret: 'pin' },
    }),
  },
  'GET /v1/w3s/user/challenges/{id}': {
    request: async (world) => {
      const { session, id } = await message(world)
      return { params: { id }, headers: token(session) }
    },
  },
  'GET /page/challenges/{id}': {
    request: async (world) => {
      const { session, id } = await message(world)
      return { params: { id }, headers: token(session) }
    },
  },
  'POST /page/challenges/{id}/approval': {
    request: async (world) => {
      const { session, id } = await message(world)
      const { user, needs: purpose } = await shownChallenge(world, session, id)
      const submission = sealFields(session, [user.id, id, purpose], [['P', pin]])
      return { params: { id }, headers: token(session), body: { purpose, submission } }
    },
  },
  'POST /page/challenges/{id}/device': { request: secondDevice },
}
