import { idInput, inputOf, pageInput, readList, readOne, tool } from './tool.ts'

/** Tools that read expected payments, with the addresses to which they are made. */
export const paymentIntentTools = [
  tool({
    name: 'list_payment_intents',
    title: 'List payment intents',
    description: 'Lists the payments that this account expects, newest first.',
    acts: false,
    input: inputOf(pageInput),
    run: (platform, input) => readList(platform, '/v1/paymentIntents', 'paymentIntents', input),
  }),
  tool({
    name: 'show_payment_intent',
    title: 'Show a payment intent',
    description:
      'Shows an expected payment: the deposit address, once it has one, the amount, and what was paid.',
    acts: false,
    input: inputOf({ paymentIntentId: idInput('The id of the payment intent.') }),
    run: (platform, { paymentIntentId }) => readOne(platform, `/v1/paymentIntents/${paymentIntentId}`),
  }),
]
