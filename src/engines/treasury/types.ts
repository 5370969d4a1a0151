/** The entity, actor and id of a request, for the audit trail. */
export type RequestOrigin = { entityId: string; actor: string; requestId: string }

/** The reason why a disbursement waits. */
export type Waiting = {
  reason:
    | 'coins_on_other_chains'
    | 'coins_moving'
    | 'coins_sweeping'
    | 'coins_unswept'
    | 'gas_missing'
    | 'retrying'
  /** The amount that the entity's waiting disbursements lack on the chain, in base units. */
  missing?: string
  /** The code of the chain that the coins come from. */
  from?: string
  /** Whether the entity's coins may be moved between chains. */
  rebalanced?: boolean
}
