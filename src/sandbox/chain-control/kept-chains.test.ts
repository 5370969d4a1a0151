import { rm } from 'node:fs/promises'
import { afterAll, expect, it } from 'vitest'
import { type Program, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'

const started: Program[] = []
const directories: string[] = []
afterAll(async () => {
  await Promise.all(started.map((program) => program.killAll()))
  for (const each of directories) await rm(each, { recursive: true, force: true, maxRetries: 5 })
})

async function start(dataDir: string, ...more: string[]): Promise<Program> {
  const program = await startProgram({ dataDir, args: ['--chains', 'BASE-SEPOLIA', ...more] })
  started.push(program)
  return program
}

it('a chain that was loaded can be reorganised as deep as it mined since, and mines as its start says', async () => {
  const dataDir = await initializedDirectory()
  directories.push(dataDir)
  let program = await start(dataDir)
  const ask = async (verb: string, body: object) => {
    const path = `/sandbox/chains/BASE-SEPOLIA/${verb}`
    const { status, body: answer } = await program.tenant.http('POST', path, { body })
    return status === 200 ? answer.data : [status, answer.message]
  }
  const listed = async () => (await program.tenant.http('GET', '/sandbox/chains')).body.data[0]
  expect(await ask('mine', { blocks: 70 })).toMatchObject({ headNumber: 70 })
  const { orphaned, head } = await ask('reorg', { depth: 64 })
  expect([orphaned.length, head.number]).toEqual([64, 70])
  program.signal('SIGTERM', 'process')
  await program.exited

  program = await start(dataDir, '--block-time', '3600')
  const expected = { headNumber: 70, headHash: head.hash, mining: 'interval', intervalS: 3600 }
  expect(await listed()).toMatchObject(expected)
  const none =
    'depth must be at most 0 on BASE-SEPOLIA now, those mined since the sandbox loaded it from disk'
  expect(await ask('reorg', { depth: 1 })).toEqual([400, expect.stringContaining(none)])
  await ask('mine', { blocks: 3 })
  expect(await ask('reorg', { depth: 4 })).toEqual([400, expect.stringContaining('depth must be at most 3')])
  expect((await ask('reorg', { depth: 3 })).head.number).toBe(73)
  expect(await listed()).toMatchObject({ headNumber: 73, mining: 'interval', intervalS: 3600 })
})
