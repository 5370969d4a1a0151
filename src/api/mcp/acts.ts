import { setTimeout as sleep } from 'node:timers/promises'
import Type from 'typebox'
import { nameId } from '#lib/ids'
import type { Buyer } from './purchases/buy.ts'
import { idInput, inputOf, optional, type Platform, readOne, type Tool, textInput, tool } from './tool.ts'
import { transferInput, transferRequest } from './transfers.ts'

const keyInput = textInput(
  'A text of your choice for this one intention, such as "invoice-17". Repeat a call with the same text when you do not know whether it worked: it happens once. Choose a new text for a new intention.',
)

/** The UUID that the API needs, which follows from the text of the agent. */
const uuidOf = (toolName: string, key: string) =>
  nameId('c2f3a1de-64fa-4d0c-9a3b-8f5e27c1d6b4', JSON.stringify([toolName, key]))

const secondsMax = 60
const ended: readonly unknown[] = ['COMPLETE', 'FAILED', 'DENIED', 'CANCELLED']

/** Tools that create and pay. */
const changingTools = [
  tool({
    name: 'create_wallet',
    title: 'Create wallets',
    description: 'Creates wallets in a wallet set, whose keys the platform holds.',
    acts: true,
    input: inputOf({
      walletSetId: idInput('The wallet set, from list_wallet_sets.'),
      blockchain: textInput('The blockchain, such as BASE-SEPOLIA.', 50),
      count: optional(Type.Integer({ minimum: 1, maximum: 20, description: 'How many. Default: 1.' })),
      idempotencyKey: keyInput,
    }),
    run: async (platform, { blockchain, idempotencyKey, ...input }) => {
      const body = {
        ...input,
        blockchains: [blockchain],
        idempotencyKey: uuidOf('create_wallet', idempotencyKey),
      }
      return create(platform, '/v1/w3s/developer/wallets', body)
    },
  }),
  tool({
    name: 'make_transfer',
    title: 'Make a transfer',
    description:
      'Pays from a wallet to any address. What is paid cannot be taken back. The state of the transaction tells the outcome: COMPLETE is paid, FAILED, DENIED and CANCELLED paid nothing, any other is under way.',
    acts: true,
    input: inputOf({
      ...transferInput,
      feeLevel: optional(
        Type.Enum(['LOW', 'MEDIUM', 'HIGH'], { description: 'The network fee. Default: MEDIUM.' }),
      ),
      refId: optional(textInput('A reference of your own, which is kept with the transaction.')),
      waitSeconds: optional(
        Type.Integer({
          minimum: 0,
          maximum: secondsMax,
          description: 'How long to wait for the outcome. Default: 20.',
        }),
      ),
      idempotencyKey: keyInput,
    }),
    run: async (platform, { idempotencyKey, waitSeconds = 20, feeLevel = 'MEDIUM', ...input }) => {
      const made = await create<{ id: string }>(platform, '/v1/w3s/developer/transactions/transfer', {
        ...transferRequest(input),
        feeLevel,
        idempotencyKey: uuidOf('make_transfer', idempotencyKey),
      })
      return outcomeOf(platform, made.id, waitSeconds)
    },
  }),
  tool({
    name: 'create_payment_intent',
    title: 'Create a payment intent',
    description:
      'Expects a payment of one amount. show_payment_intent has the address to pay to, a moment later.',
    acts: true,
    input: inputOf({
      amount: textInput('The amount, as a decimal text such as "2.00".', 100),
      currency: Type.Enum(['USD', 'EUR'], { description: 'USD for USDC, EUR for EURC.' }),
      chain: textInput('The chain to receive on, by the code of the business account, such as BASE.', 50),
      idempotencyKey: keyInput,
    }),
    run: (platform, { amount, currency, chain, idempotencyKey }) =>
      create(
        platform,
        '/v1/paymentIntents',
        {
          type: 'transient',
          amount: { amount, currency },
          settlementCurrency: currency,
          paymentMethods: [{ type: 'blockchain', chain }],
          idempotencyKey: uuidOf('create_payment_intent', idempotencyKey),
        },
        { needsSecret: false },
      ),
  }),
]

async function create<Data>(
  platform: Platform,
  path: string,
  body: object,
  { needsSecret = true } = {},
): Promise<Data> {
  return (await platform<Data>({ method: 'POST', path, body, ...(needsSecret && { needsSecret }) })).data
}

/** The transaction, once it has ended or the time is over. */
async function outcomeOf(platform: Platform, id: string, seconds: number): Promise<unknown> {
  for (let waited = 0; ; waited++) {
    const data = (await readOne(platform, `/v1/w3s/transactions/${id}`)) as { transaction: { state: string } }
    if (waited >= seconds || ended.includes(data.transaction.state)) return data
    await sleep(1_000)
  }
}

/** Pays sellers by x402. */
const purchaseTool = (buy: Buyer): Tool =>
  tool({
    name: 'fetch_with_payment',
    title: 'Fetch, and pay if asked to',
    description:
      'Sends a request to a URL. If the answer is 402, pays what it asks in USDC by x402 from a wallet on the same blockchain, up to maxAmount, asks again and returns the answer with the receipt. "paid" is yes, no or pending, for all calls with the idempotencyKey. Redirects are not followed.',
    acts: true,
    input: inputOf({
      url: textInput('The URL.', 2_048),
      method: optional(Type.Enum(['GET', 'POST'], { description: 'Default: GET.' })),
      body: optional(Type.String({ maxLength: 65_536, description: 'The body of a POST.' })),
      contentType: optional(textInput('The media type of the body. Default: application/json.', 100)),
      walletId: idInput('The wallet that pays, from list_wallets.'),
      maxAmount: textInput(
        'The most that may be paid, in USDC, as a decimal text such as "0.10". Ask the user before you raise it.',
        100,
      ),
      idempotencyKey: keyInput,
    }),
    run: (platform, { method = 'GET', contentType = 'application/json', ...input }) =>
      buy(platform, { method, contentType, ...input }),
  })

/** The tools that change anything. */
export const actingTools = (buy: Buyer): readonly Tool[] => [...changingTools, purchaseTool(buy)]
