import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Guesses } from '../store/user-guesses.ts'
import { openGuessFiles } from './guess-files.ts'

it('property 90: a counter that several processes write at once is whole', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bezant-guess-files-'))
  const ref = { entityId: randomUUID(), userId: randomUUID(), kind: 'pin' } as const
  const stateOf = (counted: number): Guesses => ({
    counted,
    cleared: 0,
    locks: 1,
    locking: counted,
    lockedDate: null,
    lockedUntil: counted % 2 === 0 ? null : '2026-01-01T00:00:00.000Z',
  })
  try {
    const counts = Array.from({ length: 40 }, (_, index) => index + 1)
    await Promise.all(counts.map((counted) => openGuessFiles(directory).write(ref, stateOf(counted))))
    const read = await openGuessFiles(directory).read(ref)
    expect(read).toEqual(stateOf(read!.counted))
    expect(await readdir(directory)).toHaveLength(1)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
