import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase } from '#testing/databases/database'
import { urlOf } from '#testing/databases/database-clone'
import { runCommand } from '#testing/processes/command'

type Found = { check: string; state: 'ok' | 'FAULT'; found: string }

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bezant-doctor-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function doctor(args: string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await runCommand({
    command: 'doctor',
    args: ['--json', '--data-dir', folder, '--port', '0', ...args],
    env,
  })
  const found = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Found)
  return { code, stderr, found, of: (check: string) => found.find((each) => each.check === check)! }
}

it('finds nothing amiss with a sandbox in an empty folder, and makes nothing', async () => {
  const { code, found } = await doctor([])
  expect(found.filter(({ state }) => state !== 'ok')).toEqual([])
  expect(found.map(({ check }) => check)).toContain('embedded PostgreSQL')
  expect(code).toBe(0)
})

it('names a port that is in use, a setting that does not exist, and the remedy of each', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  const { code, of } = await doctor(['--port', String(port)], { BEZANT_PROT: '1' })
  server.close()
  expect(code).toBe(1)
  expect(of('ports').found).toContain(`port ${port} is in use`)
  expect(of('settings').found).toContain('BEZANT_PROT')
})

it('names what was sealed with a root key that is missing', async () => {
  await mkdir(join(folder, 'postgres'), { recursive: true })
  const { of } = await doctor([])
  await rm(join(folder, 'postgres'), { recursive: true })
  expect(of('root key').found).toContain('restore the file from a backup')
})

it('names everything that a server lacks at once', async () => {
  const { code, of } = await doctor(['--for', 'serve'], {
    DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
    BEZANT_NETWORKS: JSON.stringify([{ blockchain: 'BASE', rpcUrls: ['http://127.0.0.1:1'] }]),
  })
  expect(code).toBe(1)
  expect(of('root key').found).toContain('BEZANT_ROOT_KEY')
  expect(of('database').found).toContain('start PostgreSQL there')
  expect(of('endpoints of chains').found).toContain('BASE: no endpoint answers')
})

it('reads the settings of a real server, and says which of them lose money', async () => {
  const test = await openTestDatabase()
  const { connection } = test
  const env = { DATABASE_URL: urlOf(connection), BEZANT_ROOT_KEY: 'a'.repeat(64) }
  const { of } = await doctor(['--for', 'serve'], env)
  await test.close()
  expect(of('root key').state).toBe('ok')
  expect(of('clock').state).toBe('ok')
  // Servers of tests keep nothing over a power failure.
  expect(of('database').found).toMatch(/^PostgreSQL \d+|fsync is off/)
})
