import Type from 'typebox'
import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import type { RequestScope } from '#runtime/scope'
import {
  newSnapshotBody,
  newSnapshotParams,
  restoredSchema,
  snapshotParams,
  snapshotsSchema,
} from './schema.ts'
import { freshName } from './shelf.ts'
import type { NamedSnapshot, Snapshots } from './snapshots.ts'

/** They close the connections to the database, so none of them holds a `tx`. */
const common = { tag: 'Sandbox', auth: 'none', changing: false } as const
const path = '/sandbox/snapshots'
/** The largest file that can be imported. */
const importBytesMax = 256 * 1024 ** 2

const restoreErrors = [
  'snapshotNotFound',
  'snapshotConflict',
  'snapshotLimitReached',
  'snapshotDamaged',
  'unavailable',
] as const

const shown = ({ name, savedDate, version, chains, bytes }: NamedSnapshot) => ({
  name,
  savedDate,
  version,
  chains,
  bytes,
})

async function timed(work: () => Promise<NamedSnapshot>) {
  const startedMs = performance.now()
  const done = await work()
  return { ...shown(done), tookMs: Math.round(performance.now() - startedMs) }
}

/** The operations that save and restore the state of a sandbox. */
export const snapshotEndpoints = (snapshots: Snapshots): readonly Endpoint<never>[] => [
  ...stateEndpoints(snapshots),
  ...transportEndpoints(snapshots),
]

const stateEndpoints = (snapshots: Snapshots) =>
  [
    endpoint<RequestScope>({
      ...common,
      method: 'GET',
      path,
      operationId: 'listSandboxSnapshots',
      summary: 'List snapshots',
      description: 'Lists the saved states of this sandbox, oldest first.',
      response: snapshotsSchema,
      errors: [],
      verb: async () => (await snapshots.list()).map(shown),
    }),
    endpoint<RequestScope, undefined, undefined, typeof newSnapshotBody>({
      ...common,
      method: 'POST',
      path,
      operationId: 'saveSandboxSnapshot',
      summary: 'Save a snapshot',
      description:
        'Saves the state of this sandbox under a name: database, chains, journals, business time, catcher. Other requests wait meanwhile.',
      status: 201,
      body: newSnapshotBody,
      response: restoredSchema,
      errors: ['snapshotConflict', 'snapshotLimitReached', 'unavailable'],
      verb: (_, { body }) => timed(() => snapshots.save(body.name)),
    }),
    endpoint<RequestScope, typeof snapshotParams>({
      ...common,
      method: 'POST',
      path: `${path}/{name}/restore`,
      operationId: 'restoreSandboxSnapshot',
      summary: 'Restore a snapshot',
      description:
        'Puts a saved state in place of the present one, which is kept as `@auto-1`: restore that to undo it. Other requests wait meanwhile.',
      params: snapshotParams,
      response: restoredSchema,
      errors: restoreErrors,
      verb: (_, { params }) => timed(() => snapshots.restore(params.name)),
    }),
    endpoint<RequestScope, typeof snapshotParams>({
      ...common,
      method: 'DELETE',
      path: `${path}/{name}`,
      operationId: 'deleteSandboxSnapshot',
      summary: 'Delete a snapshot',
      description: 'Deletes a saved state. The present one stays as it is.',
      params: snapshotParams,
      status: 204,
      errors: ['snapshotNotFound', 'snapshotConflict', 'unavailable'],
      verb: (_, { params }) => snapshots.remove(params.name),
    }),
    endpoint<RequestScope>({
      ...common,
      method: 'POST',
      path: '/sandbox/reset',
      operationId: 'resetSandbox',
      summary: 'Reset the sandbox',
      description:
        'Restores `@fresh`, the state of the first start. The present state is kept as `@auto-1`; saved ones stay.',
      response: restoredSchema,
      errors: restoreErrors,
      verb: () => timed(() => snapshots.restore(freshName)),
    }),
  ] as Endpoint<never>[]

const transportEndpoints = (snapshots: Snapshots) =>
  [
    endpoint<RequestScope, typeof snapshotParams>({
      ...common,
      method: 'GET',
      path: `${path}/{name}/export`,
      operationId: 'exportSandboxSnapshot',
      summary: 'Export a snapshot',
      description:
        'Returns a saved state as one file, for other sandboxes of the same version with the same chains. It holds the keys of this sandbox.',
      params: snapshotParams,
      media: 'application/gzip',
      response: Type.String({ description: 'The file.' }),
      errors: ['snapshotNotFound', 'snapshotConflict', 'unavailable'],
      verb: (_, { params }) => snapshots.exportOf(params.name),
    }),
    endpoint<RequestScope, typeof newSnapshotParams>({
      ...common,
      method: 'POST',
      path: `${path}/{name}/import`,
      operationId: 'importSandboxSnapshot',
      summary: 'Import a snapshot',
      description:
        'Makes a snapshot of this name from an exported one, the body of the request. The present state stays as it is.',
      params: newSnapshotParams,
      raw: true,
      rawBytesMax: importBytesMax,
      status: 201,
      response: restoredSchema,
      errors: ['snapshotConflict', 'snapshotLimitReached', 'snapshotDamaged', 'unavailable'],
      verb: (_, { params, arrived }) => timed(() => snapshots.importAs(params.name, arrived.bytes)),
    }),
  ] as Endpoint<never>[]
