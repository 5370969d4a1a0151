import { edit, type Mutant, proof } from './mutant.ts'

const webhooks = 'src/engines/webhooks'
const faults = (title: string) => proof(`${webhooks}/faults.test.ts`, title)
const outbound = (title: string) => proof('src/runtime/outbound/outbound.test.ts', `property 53: ${title}`)

/** What customers are told, and where servers that they name may be. */
export const notificationMutants: readonly Mutant[] = [
  {
    name: 'one-good-address-is-enough',
    about: 'a name with one public address may lead inside by another',
    edits: [edit('src/runtime/outbound/target.ts', 'reaches.every(', 'reaches.some(')],
    test: outbound('connects to nothing in this machine'),
  },
  {
    name: 'resolved-again',
    about: 'the name is checked, and resolved again to connect',
    edits: [
      edit(
        'src/runtime/outbound/call.ts',
        'lookup: lookupIn(addresses),',
        'lookup: lookupIn(addresses) && undefined,',
      ),
    ],
    test: outbound('connects to the addresses that were checked'),
  },
  {
    name: 'no-metadata-service',
    about: 'the range of the metadata services of clouds is missing',
    edits: [edit('src/runtime/outbound/address.ts', "  ['169.254.0.0', 16],\n", '')],
    test: outbound('connects to nothing in this machine'),
  },
  {
    name: 'cursor-over-ids',
    about: 'an event that commits after a later one is passed over',
    edits: [
      edit(
        `${webhooks}/store/queue.ts`,
        'order by sequence limit',
        'and not exists (select 1 from notifications n where n.entity_id = queued_events.entity_id and n.id > queued_events.id) order by sequence limit',
      ),
    ],
    test: proof(
      `${webhooks}/notifications.test.ts`,
      'include what an event says that commits after later ones',
    ),
  },
  {
    name: 'dated-at-each-try',
    about: 'a repeated message differs from its first try',
    edits: [edit(`${webhooks}/deliver.ts`, 'timestamp: delivery.createDate,', 'timestamp: nowOf(ctx),')],
    test: faults('gets the same message again'),
  },
  {
    name: 'unfenced-delivery',
    about: 'a worker that lost its lease records what it did all the same',
    edits: [edit(`${webhooks}/store/deliveries.ts`, ' and fencing_token = ', ' and 0 < ')],
    test: faults('that was thought dead writes nothing of what it did'),
  },
  {
    name: 'one-endpoint-at-a-time',
    about: 'an endpoint that takes its time holds up all others',
    edits: [edit(`${webhooks}/index.ts`, 'const lanesMax = 200', 'const lanesMax = 1')],
    test: faults('that takes all its time delays nobody else'),
  },
  {
    name: 'paid-before-pending',
    about: 'a later step of a resource is told before an earlier one that failed',
    edits: [edit(`${webhooks}/back-off.ts`, 'attemptsInOrder = 5', 'attemptsInOrder = 0')],
    test: faults('hears of one resource in order'),
  },
  {
    name: 'confirmed-by-head',
    about: 'whoever looks at a link with HEAD confirms it',
    edits: [
      edit('src/runtime/http/register.ts', '...(endpoint.changing && { exposeHeadRoute: false }),', ''),
    ],
    test: proof('src/api/notification-subscriptions/subscriptions.test.ts', 'work again and again'),
  },
]
