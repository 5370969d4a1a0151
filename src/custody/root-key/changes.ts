import { installationId } from '#runtime/record/store'

/** An act of an operator on a version of the root key, for the audit trail of the installation. */
export const rootKeyChange = (type: string, version: number) => ({
  entityId: installationId,
  actor: 'operator',
  type,
  resourceId: String(version),
})
