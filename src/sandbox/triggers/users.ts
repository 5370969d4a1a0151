/** Fixtures of users, who approve challenges with a PIN on a page. */
import { createCipheriv, randomBytes, randomUUID } from 'node:crypto'
import { stablecoinNamed } from '#chains/network'
import type { Fixture } from './fixture.ts'
import type { Steps } from './steps.ts'

const amounts = { 'amounts.0': '0.5' }
const pin = '258014'
const newPin = '413975'
const answers = ['Elm Street', 'Bruno'] as const
const questions: readonly SealedField[] = [
  ['Q', 'Which street did you grow up in?'],
  ['A', answers[0]],
  ['Q', 'What was your first pet?'],
  ['A', answers[1]],
]

/** A field of what a page sends: its kind, and what the user entered. */
type SealedField = readonly [kind: string, value: string]
type PinSession = { userToken: string; encryptionKey: string }

async function makeUser(steps: Steps): Promise<PinSession> {
  const userId = `trigger-${randomUUID()}`
  await steps.call('POST', '/v1/w3s/users', { userId })
  return steps.call('POST', '/v1/w3s/users/token', { userId })
}

/** Encrypts what the user entered, as the page does. */
function sealed({ encryptionKey }: PinSession, bound: readonly string[], fields: readonly SealedField[]) {
  const plain = fields.map(([kind, value]) => {
    const bytes = Buffer.from(value)
    return Buffer.concat([Buffer.from(kind), Buffer.of(bytes.length >> 8, bytes.length & 255), bytes])
  })
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(encryptionKey, 'base64'), nonce)
  cipher.setAAD(Buffer.from(['bezant submission 1', ...bound].join('\n')))
  const contents = Buffer.concat([cipher.update(Buffer.concat(plain)), cipher.final()])
  return Buffer.concat([Buffer.of(1), nonce, contents, cipher.getAuthTag()]).toString('base64')
}

/** Asks a user for something, who approves it. Returns the ids of what came of it. */
async function approve(
  steps: Steps,
  session: PinSession,
  [method, path, body = {}]: readonly [method: 'POST' | 'PUT', path: string, body?: object],
  fields: readonly SealedField[] = [['P', pin]],
): Promise<readonly string[]> {
  const asked = { idempotencyKey: randomUUID(), ...body }
  const { challengeId } = await steps.callAs(session.userToken, method, `/v1/w3s/user/${path}`, asked)
  const page = `/page/challenges/${steps.note('challenge', challengeId)}`
  const { user, needs } = await steps.callAs(session.userToken, 'GET', page)
  const submission = sealed(session, [user.id, challengeId, needs], fields)
  const approval = { purpose: needs, submission }
  const { challenge } = await steps.callAs(session.userToken, 'POST', `${page}/approval`, approval)
  return challenge.correlationIds ?? []
}

/** A user with a PIN, with questions, and with a wallet. */
async function initialize(steps: Steps): Promise<{ session: PinSession; walletId: string }> {
  const session = await makeUser(steps)
  const wanted = { blockchains: [steps.values['blockchain']], accountType: 'EOA' }
  const [walletId] = await approve(steps, session, ['POST', 'initialize', wanted], [['N', pin], ...questions])
  return { session, walletId: steps.note('wallet', walletId!) }
}

async function fundedUser(steps: Steps) {
  const { session, walletId } = await initialize(steps)
  const path = `/v1/w3s/wallets/${walletId}`
  const { wallet } = await steps.callAs(session.userToken, 'GET', path)
  await steps.pay(wallet.address, 'NATIVE', '1')
  await steps.pay(wallet.address, 'USDC', '1000')
  await steps.until(async () => {
    const { tokenBalances } = await steps.callAs(session.userToken, 'GET', `${path}/balances`)
    return tokenBalances.length >= 2 || undefined
  }, 'the wallet shows its coins')
  return { session, walletId }
}

/** Asks the user for a transfer, which is approved. */
async function transfer(steps: Steps, session: PinSession, walletId: string): Promise<string> {
  const [id] = await approve(steps, session, [
    'POST',
    'transactions/transfer',
    {
      walletId,
      tokenId: stablecoinNamed(steps.network, 'USDC')!.id,
      destinationAddress: steps.address(),
      amounts: [steps.values['amounts.0']],
      feeLevel: 'MEDIUM',
    },
  ])
  return steps.note('transaction', id!)
}

const untilState = (steps: Steps, id: string, ...states: string[]) =>
  steps.untilState(`/v1/w3s/transactions/${id}`, ({ transaction }) => transaction.state, ...states)

/** A transaction that waits in a paused chain is accelerated or cancelled by its user. */
async function change(steps: Steps, what: 'accelerate' | 'cancel'): Promise<void> {
  const { session, walletId } = await fundedUser(steps)
  await steps.onChain('pause', {})
  try {
    const id = await transfer(steps, session, walletId)
    await untilState(steps, id, 'SENT')
    await approve(steps, session, ['POST', `transactions/${id}/${what}`])
  } finally {
    await steps.onChain('resume', {})
  }
}

const challenge = (topic: string, about: string, run: Fixture['run'], values = {}): Fixture => ({
  about: `${about} The user approves it with a PIN.`,
  topics: [`challenges.${topic}`],
  values,
  run,
})

export const userFixtures: Readonly<Record<string, Fixture>> = {
  'challenge.initialize': challenge(
    'initialize',
    'A user gets a PIN, questions and a wallet.',
    async (steps) => {
      await initialize(steps)
    },
  ),
  'challenge.setPin': challenge('setPin', 'A user gets a PIN.', async (steps) => {
    await approve(steps, await makeUser(steps), ['POST', 'pin'], [['N', pin], ...questions])
  }),
  'challenge.changePin': challenge('changePin', 'A user changes the PIN.', async (steps) => {
    const { session } = await initialize(steps)
    await approve(
      steps,
      session,
      ['PUT', 'pin'],
      [
        ['P', pin],
        ['N', newPin],
      ],
    )
  }),
  'challenge.restorePin': challenge(
    'restorePin',
    'A user who forgot the PIN answers questions.',
    async (steps) => {
      const { session } = await initialize(steps)
      const fields = answers.map((each): SealedField => ['A', each])
      await approve(steps, session, ['POST', 'pin/restore'], [...fields, ['N', newPin]])
    },
  ),
  'challenge.createWallet': challenge('createWallet', 'A user gets a second wallet.', async (steps) => {
    const { session } = await initialize(steps)
    const wanted = { blockchains: [steps.values['blockchain']], accountType: 'EOA' }
    await approve(steps, session, ['POST', 'wallets', wanted])
  }),
  'challenge.createTransaction': challenge(
    'createTransaction',
    'A user pays from a wallet.',
    async (steps) => {
      const { session, walletId } = await fundedUser(steps)
      await untilState(steps, await transfer(steps, session, walletId), 'COMPLETE')
    },
    amounts,
  ),
  'challenge.contractExecution': {
    needs: 'contracts',
    ...challenge('contractExecution', 'A user calls a contract from a wallet.', async (steps) => {
      const { session, walletId } = await fundedUser(steps)
      const call = {
        walletId,
        contractAddress: steps.usdc,
        abiFunctionSignature: 'approve(address,uint256)',
        abiParameters: [steps.address(), '1000000'],
        feeLevel: 'MEDIUM',
      }
      const [id] = await approve(steps, session, ['POST', 'transactions/contractExecution', call])
      await untilState(steps, steps.note('transaction', id!), 'COMPLETE')
    }),
  },
  'challenge.accelerateTransaction': {
    needs: 'replacements of transactions',
    ...challenge(
      'accelerateTransaction',
      'A user accelerates a payment; the chain mines nothing for others meanwhile.',
      (steps) => change(steps, 'accelerate'),
      amounts,
    ),
  },
  'challenge.cancelTransaction': {
    needs: 'replacements of transactions',
    ...challenge(
      'cancelTransaction',
      'A user cancels a payment; the chain mines nothing for others meanwhile.',
      (steps) => change(steps, 'cancel'),
      amounts,
    ),
  },
}
