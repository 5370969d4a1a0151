import { endpoints } from '#api/index'
import type { SandboxCtx } from '#api/sandbox-ctx'
import { invalid } from '#lib/errors'
import type { Database } from '#runtime/db/db'
import { invoke } from '#runtime/http/invoke'
import { sandboxEntity, sandboxKeyId } from '../credentials.ts'
import type { Catcher } from './catcher.ts'
import type { NewInboxSubscription } from './schema.ts'

/** Time that the request waits for the two confirmations of v1, which the inbox makes when the platform asks for them. */
const confirmMaxMs = 15_000

const operationIds = { v1: 'createSubscription', v2: 'createWebhookSubscription' } as const

type Subscribed = { id: string; endpoint: string; subscriptionDetails?: { url: string; status: string }[] }

/** Subscribes an inbox by the platform's own operation, on behalf of the sandbox's entity. */
export async function subscribeInbox(
  { ctx, database }: { ctx: SandboxCtx; database: Database },
  catcher: Catcher,
  inbox: string,
  { line, topics }: NewInboxSubscription,
) {
  if (line === 'v1' && topics)
    throw invalid({
      at: 'topics',
      reason: 'is for v2: v1 always sends all topics, so omit it and filter the messages by ?topic=',
      value: topics,
    })
  catcher.inboxes.open(inbox)
  const operation = endpoints.find(({ operationId }) => operationId === operationIds[line])!
  const body = { endpoint: catcher.urlOf(inbox), ...(topics && { notificationTypes: topics }) }
  const { result } = await invoke(operation, onBehalfOfSandbox(ctx, database), {
    params: {},
    query: {},
    body,
    page: undefined as never,
    arrived: undefined as never,
  })
  const { id, endpoint, subscriptionDetails = [] } = result as Subscribed
  const pending = subscriptionDetails.filter(({ status }) => status === 'pending').map(({ url }) => url)
  const isConfirmed = await catcher.untilConfirmed(inbox, pending, confirmMaxMs)
  return { id, line, endpoint, isConfirmed }
}

const onBehalfOfSandbox = (ctx: SandboxCtx, database: Database): SandboxCtx => ({
  ...ctx,
  entity: sandboxEntity,
  actor: `key:${sandboxKeyId}`,
  database: database.onBehalfOf(sandboxEntity.id),
  db: database.readingFor(sandboxEntity.id),
  afterRollback: [],
  afterCommit: [],
})
