import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { type Ask, pathOf } from '../ask.ts'

/** A saved state of a sandbox. */
export type SnapshotInfo = {
  name: string
  savedDate: string
  version: string
  chains: { blockchain: string; number: number; hash: string }[]
  bytes: number
}
export type SnapshotDone = SnapshotInfo & { tookMs: number }

export type SnapshotsHandle = {
  save(name: string): Promise<SnapshotDone>
  /** Returns to a saved state; that which it replaces is `@auto-1`. */
  restore(name: string): Promise<SnapshotDone>
  list(): Promise<SnapshotInfo[]>
  delete(name: string): Promise<void>
  /** Writes a saved state to a file, for other sandboxes of the same version with the same chains. */
  export(name: string, file: string): Promise<void>
  /** Makes a saved state of such a file, which `restore` then returns to. */
  import(name: string, file: string): Promise<SnapshotDone>
  /** Returns to the state of the start: no wallets, no payments, chains at their first block. */
  reset(): Promise<SnapshotDone>
}

const path = '/sandbox/snapshots'

export const snapshotsOf = ({ lab, bytes }: Ask): SnapshotsHandle => ({
  save: (name) => lab('POST', path, { name }),
  restore: (name) => lab('POST', pathOf`/sandbox/snapshots/${name}/restore`, {}),
  list: () => lab('GET', path),
  delete: (name) => lab('DELETE', pathOf`/sandbox/snapshots/${name}`),
  export: async (name, file) => {
    const draft = `${file}.new`
    try {
      await writeFile(draft, await bytes(pathOf`/sandbox/snapshots/${name}/export`), { mode: 0o600 })
      await rename(draft, file)
    } finally {
      await rm(draft, { force: true })
    }
  },
  import: async (name, file) =>
    lab('POST', pathOf`/sandbox/snapshots/${name}/import`, new Uint8Array(await readFile(file))),
  reset: () => lab('POST', '/sandbox/reset', {}),
})
