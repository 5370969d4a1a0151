import { edit, type Mutant, proof } from './mutant.ts'

const signer = 'src/custody/installation/webhook-signer.ts'
const webhooks = (title: string) => proof('src/engines/webhooks/webhooks.test.ts', title)

/** Webhooks: bugs here sign other bytes or with a former key, or tell one entity of another. */
export const webhookMutants: readonly Mutant[] = [
  {
    name: 'other-bytes-signed',
    about: 'a webhook is signed over its text in another encoding than the one that is sent',
    edits: [edit(signer, "Buffer.from(body, 'utf8')", "Buffer.from(body, 'latin1')")],
    test: webhooks('report each state of an outbound'),
  },
  {
    name: 'resend-overwritten',
    about: 'what is resent while a worker finds it blocked gets the due date back that it had before',
    edits: [edit('src/engines/webhooks/store/deliveries.ts', ' and w.xmin = b.version', '')],
    test: proof('src/engines/webhooks/backlog.test.ts', 'property 50'),
  },
  {
    name: 'attempt-undated',
    about: 'the signed time of a webhook is that of its event, not of its attempt',
    edits: [
      edit(
        'src/engines/webhooks/webhook.ts',
        'Math.floor(sentMs / 1_000)',
        'Math.floor(Math.min(sentMs, Date.parse(createDate)) / 1_000)',
      ),
    ],
    test: webhooks('property 50: are sent again unchanged'),
  },
  {
    name: 'former-key-signs',
    about: 'a process signs webhooks with the keys that it opened first, also after a rotation',
    edits: [
      edit(
        'src/custody/sealing/newest-key.ts',
        'if (held && Math.abs(nowMs - held.atMs) < heldMs) return held.key',
        'if (held) return held.key',
      ),
    ],
    test: proof('src/cli/webhook-keys.test.ts', 'rotates the keys of webhooks'),
  },
  {
    name: 'sent-to-another-entity',
    about: 'a webhook is sent by the subscriptions of another entity as well',
    edits: [
      edit(
        'src/engines/webhooks/store/queue.ts',
        'and s.id = c.subscription_id',
        'and s.id = c.subscription_id or s.id = c.subscription_id',
      ),
      edit(
        'src/engines/webhooks/store/queue.ts',
        'on s.entity_id = n.entity_id and s.line = n.line',
        'on s.line = n.line',
      ),
      edit(
        'src/engines/webhooks/store/deliveries.ts',
        'where w.detail_id is null and n.entity_id =',
        'where w.detail_id is null and n.id = w.message_id or n.entity_id =',
      ),
    ],
    test: webhooks('reach the subscriptions of their entity'),
  },
  {
    name: 'webhooks-of-other-addresses',
    about: 'an endpoint is told of addresses on chains that it does not watch',
    edits: [edit('src/engines/webhooks/store/queue.ts', 'else n.domain = any(s.domains) and', 'else')],
    test: proof('src/api/webhook-subscriptions/permissionless.test.ts', 'by its receivers alone'),
  },
]
