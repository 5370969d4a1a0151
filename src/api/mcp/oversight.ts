import { idInput, inputOf, optional, pageInput, readList, readOne, tool } from './tool.ts'

/** Tools that read what an operator sees. Their key needs the scope operator:read. */
export const oversightTools = [
  tool({
    name: 'show_timeline',
    title: 'Show the timeline of a transaction',
    description:
      'Shows everything that happened to a transaction, payment or payout: request, policy, screening, attempts, blocks, bookings and webhooks. The API key needs the scope operator:read.',
    acts: false,
    input: inputOf({ id: idInput('The id of the transaction, payment, payout or transfer.') }),
    run: (platform, { id }) => readOne(platform, `/operator/movements/${id}/timeline`),
  }),
  tool({
    name: 'show_policies',
    title: 'Show the policies in force',
    description:
      'Shows the rules and limits that signatures of this account have to pass. The API key needs the scope operator:read.',
    acts: false,
    input: inputOf({
      subjectId: optional(idInput('The policy of this wallet, wallet set or API key alone.')),
      ...pageInput,
    }),
    run: (platform, input) =>
      readList(platform, '/operator/policies', 'policies', { ...input, inForce: true }),
  }),
]
