/** The entity, actor and id of a request, for the audit trail. */
export type RequestOrigin = { entityId: string; actor: string; requestId: string }
