/** Real processes whose root key a service wraps: they wait for it, are killed, and rotate the key without a restart. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openDatabase, sql } from '#runtime/db/db'
import { urlOf } from '#testing/databases/database-clone'
import { cleanUp, cleanups, copyOf } from '#testing/databases/restored-database'
import { until } from '#testing/platform/until'
import { runProgram, spawnProgram } from '#testing/processes/program'
import { quietPort } from '#testing/processes/quiet-port'
import { hasSoftHsm, openSoftHsm } from '#testing/servers/soft-hsm'
import { openTestVault, type TestVault } from '#testing/servers/vault-transit'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
  vault.createKey('bezant')
})
afterAll(() => vault?.stop())
afterEach(cleanUp)

/** An installation on an empty database, whose only key is that of a service. */
async function openSite(service: Record<string, string>) {
  const { connection } = await copyOf('empty')
  // A session of the test would be a process that does not say which keys it has.
  const versions = async () => {
    const database = openDatabase(connection, 1)
    return database.all(sql`select version from root_keys`).finally(database.close)
  }
  const home = await mkdtemp(join(tmpdir(), 'bezant-key-service-'))
  cleanups.push(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
  const env = { DATABASE_URL: urlOf(connection), ...service }
  const start = async (command: 'serve' | 'worker', port = 0) => {
    const program = await spawnProgram({
      dataDir: join(home, `${command}-${randomUUID()}`),
      command,
      args: ['--port', String(port)],
      env: { BEZANT_PAGE_PORT: '0', ...env },
    })
    cleanups.push(async () => {
      program.child.kill('SIGKILL')
      await program.exited
    })
    const url = () => /^\{.*"url":"([^"]+)".*"msg":"ready"\}$/m.exec(program.stderr())?.[1]
    const ready = async () => {
      await until(() => url() !== undefined || program.child.exitCode !== null, `${command} is ready`)
      return url() ?? Promise.reject(new Error(program.stderr()))
    }
    return { ...program, ready }
  }
  const run = (command: string, args: string[], more: Record<string, string> = {}) =>
    runProgram({ dataDir: join(home, 'command'), command, args, env: { ...env, ...more } })
  const doctor = async () => {
    const { stdout } = await run('doctor', ['--for', 'serve', '--json'])
    const rows = stdout.split('\n').filter((line) => line.startsWith('{'))
    const said = new Map(
      rows.map((line) => JSON.parse(line)).map(({ check, state, found }) => [check, `${state}: ${found}`]),
    )
    return { rootKey: said.get('root key'), keyService: said.get('key service') }
  }
  return { versions, start, run, doctor }
}

const get = async (url: string) => {
  const response = await fetch(url)
  return { status: response.status, body: await response.json() }
}

it('property 292: processes wait for their key service, are killed, and rotate the key without a restart', async () => {
  const home = await mkdtemp(join(tmpdir(), 'bezant-token-'))
  cleanups.push(() => rm(home, { recursive: true, force: true }))
  const tokenFile = join(home, 'token')
  await writeFile(tokenFile, `${vault.token}\n`)
  const name = `vault:${vault.url}/keys/bezant`
  const site = await openSite({ BEZANT_ROOT_KEY_SERVICE: name, BEZANT_VAULT_TOKEN_FILE: tokenFile })
  const { versions, start, run, doctor } = site

  // The first start of all, while the service is down.
  vault.be('sealed')
  const port = await quietPort()
  const first = await start('serve', port)
  await until(() => first.stderr().includes('"alarm":"key-service-away"'), 'serve says that it waits')
  expect(first.stderr()).toContain(`${name} does not wrap the root key: status 503: Vault is sealed`)
  const base = `http://127.0.0.1:${port}`
  await until(() => first.stderr().includes('only /ping and /ready'), 'serve answers probes')
  expect(await get(`${base}/ping`)).toEqual({ status: 200, body: { message: 'pong' } })
  expect(await get(`${base}/ready`)).toMatchObject({
    status: 503,
    body: { ready: false, signing: 'waiting' },
  })
  expect(await get(`${base}/v1/configuration`)).toMatchObject({
    status: 503,
    body: { message: expect.stringContaining('The service that keeps the root key') },
  })
  expect(await versions()).toEqual([])
  vault.be('well')
  expect(await first.ready()).toBe(base)
  expect((await get(`${base}/v1/configuration`)).status).toBe(401)
  expect(await doctor()).toEqual({
    rootKey: `ok: version 1 seals, wrapped by ${name}`,
    keyService: `ok: ${name} wraps and unwraps`,
  })

  // One that waits ends by a signal, and the other goes on.
  await vault.stop()
  const waiting = await start('worker')
  await until(() => waiting.stderr().includes('"alarm":"key-service-away"'), 'the worker says that it waits')
  expect((await get(`${base}/v1/configuration`)).status).toBe(401)
  expect((await doctor()).keyService).toContain(`FAULT: ${name} does not wrap the root key`)
  waiting.child.kill('SIGTERM')
  expect((await waiting.exited).code).toBe(0)
  await vault.start()
  const worker = await start('worker')
  await worker.ready()

  // The command dies at each of its steps, and the next run goes on.
  for (const [point, known] of [
    ['after-root-key-wrap', 1],
    ['after-wrapped-version', 2],
    ['after-root-key-activation', 2],
  ] as const) {
    const { code, stderr } = await run('root-key', ['rotate'], { BEZANT_FAILPOINT: `${point}:1:kill` })
    expect([point, code], stderr + first.stderr() + worker.stderr()).toEqual([point, null])
    expect(await versions()).toHaveLength(known)
  }
  // The token that the processes started with has ended, and the file has the next one.
  const former = vault.token
  await writeFile(tokenFile, `${vault.renewToken()}\n`)
  const rotated = await run('root-key', ['rotate', '--json'])
  expect(rotated.code, rotated.stderr).toBe(0)
  expect(JSON.parse(rotated.stdout)).toMatchObject({ version: 2, retired: '1' })
  const again = await run('root-key', ['rotate', '--json'])
  expect(again.code, again.stderr).toBe(0)
  expect(JSON.parse(again.stdout)).toMatchObject({ version: 3, retired: '2' })
  vault.rotateKey('bezant')
  const rewrapped = await run('root-key', ['rewrap', '--json'])
  expect(JSON.parse(rewrapped.stdout), rewrapped.stderr).toEqual({ versions: '3', wrappedBy: name })
  vault.refuseOldVersions('bezant')
  expect((await doctor()).rootKey).toBe(`ok: version 3 seals, wrapped by ${name}`)
  const listed = await run('root-key', ['list', '--json'])
  expect(listed.stdout).toContain(`"wrappedBy":"${name}"`)
  for (const { child } of [first, worker]) expect(child.exitCode).toBeNull()
  const second = await start('serve')
  expect((await get(`${await second.ready()}/v1/configuration`)).status).toBe(401)
  const logs = [first, worker, second, waiting].map((program) => program.stderr()).join('')
  for (const secret of [vault.token, former]) expect(logs).not.toContain(secret)
  const none = await run('root-key', ['rewrap'], { BEZANT_ROOT_KEY_SERVICE: '' })
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('set BEZANT_ROOT_KEY_SERVICE')])
})

it.runIf(hasSoftHsm())('property 292: the same with a PKCS #11 token', async () => {
  const hsm = await openSoftHsm()
  cleanups.push(hsm.close)
  await hsm.importKey('root', 'a1')
  const service = {
    BEZANT_ROOT_KEY_SERVICE: hsm.serviceOf('object=root'),
    BEZANT_HSM_PIN: hsm.pin,
    ...hsm.env,
  }
  const { start, run, doctor } = await openSite(service)
  // A token of SoftHSM is files, which processes that log in at the same time spoil for each other.
  const url = await (await start('serve')).ready()
  await (await start('worker')).ready()
  const name = 'pkcs11:token=bezant%20test;object=root'
  expect(await doctor()).toEqual({
    rootKey: `ok: version 1 seals, wrapped by ${name}`,
    keyService: `ok: ${name} wraps and unwraps`,
  })
  const rotated = await run('root-key', ['rotate', '--json'])
  expect(rotated.code, rotated.stderr).toBe(0)
  expect(JSON.parse(rotated.stdout)).toMatchObject({ version: 2, retired: '1' })
  expect((await get(`${url}/v1/configuration`)).status).toBe(401)
  const wrong = await run('root-key', ['rotate'], { BEZANT_HSM_PIN: '00000000' })
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('CKR_PIN_INCORRECT: correct BEZANT_HSM_PIN'),
  ])
  expect(await run('audit', ['verify'])).toMatchObject({ code: 0 })
})
