import { endpoints } from '#api/index'
import type { SandboxCtx } from '#api/sandbox-ctx'
import { invalid } from '#lib/errors'
import type { Database } from '#runtime/db/db'
import { invoke } from '#runtime/http/invoke'
import { sandboxEntity, sandboxKeyId } from '../credentials.ts'
import type { Catcher } from './catcher.ts'
import type { Confirmations } from './confirm-subscription.ts'
import type { NewInboxSubscription } from './schema.ts'

/** Time that the request waits for the two confirmations of v1, which the inbox makes when the platform asks for them. */
const confirmMaxMs = 15_000

const operationIds = { v1: 'createSubscription', v2: 'createWebhookSubscription' } as const

type Subscribed = { id: string; endpoint: string; subscriptionDetails?: { url: string; status: string }[] }

type OwnParts = { ctx: SandboxCtx; database: Database; confirmations: Confirmations }

/** Subscribes an inbox by the platform's own operation, on behalf of the sandbox's entity. */
export async function subscribeInbox(
  { ctx, database }: Pick<OwnParts, 'ctx' | 'database'>,
  { inboxes, urlOf, confirmations }: Catcher,
  inbox: string,
  { line, topics }: NewInboxSubscription,
) {
  if (line === 'v1' && topics)
    throw invalid({
      at: 'topics',
      reason: 'is for v2: v1 always sends all topics, so omit it and filter the messages by ?topic=',
      value: topics,
    })
  inboxes.open(inbox)
  return subscribeOwnEndpoint({ ctx, database, confirmations }, urlOf(inbox), { line, topics })
}

/** Subscribes an endpoint of this sandbox, and waits until it has confirmed what the platform asks it to. */
export async function subscribeOwnEndpoint(
  { ctx, database, confirmations }: OwnParts,
  address: string,
  { line, topics }: Pick<NewInboxSubscription, 'line'> & { topics?: readonly string[] | undefined },
) {
  const body = { endpoint: address, ...(topics && { notificationTypes: topics }) }
  const {
    id,
    endpoint,
    subscriptionDetails = [],
  } = (await callOwn({ ctx, database }, operationIds[line], {
    body,
  })) as Subscribed
  const pending = subscriptionDetails.filter(({ status }) => status === 'pending').map(({ url }) => url)
  const isConfirmed = await confirmations.until(new URL(address).pathname, pending, confirmMaxMs)
  return { id, line, endpoint, isConfirmed }
}

/** Runs an operation of the platform on behalf of the sandbox's entity. */
export async function callOwn(
  { ctx, database }: Pick<OwnParts, 'ctx' | 'database'>,
  operationId: string,
  { params = {}, body = {} }: { params?: Record<string, string>; body?: object },
): Promise<unknown> {
  const operation = endpoints.find((each) => each.operationId === operationId)!
  const { result } = await invoke(operation, onBehalfOfSandbox(ctx, database), {
    params,
    query: {},
    body: body as Record<string, unknown>,
    page: undefined as never,
    arrived: undefined as never,
  })
  return result
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
