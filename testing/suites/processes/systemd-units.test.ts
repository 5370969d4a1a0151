/** The units of `deploy/systemd`: what systemd says of them, and what they run, with their settings, rights and system calls. */
import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, it } from 'vitest'
import { openAsOwner } from '#runtime/db/db'
import { adminPassword, openKeptServer } from '#testing/databases/kept-server'
import { systemPostgres } from '#testing/databases/system-postgres'
import { startTestChains } from '#testing/platform/chain'
import { until } from '#testing/platform/until'
import { callsOf, canConfine, startConfined } from '#testing/processes/confined'
import { documentedBlock, withNode } from '#testing/processes/documented-block'
import { programFile } from '#testing/processes/programs'
import { quietPort } from '#testing/processes/quiet-port'
import {
  commandOf,
  credentialsOf,
  environmentOf,
  readSettings,
  readUnit,
  type SystemdUnit,
} from '#testing/processes/systemd-unit'

const home = 'deploy/systemd'
const names = readdirSync(home).filter((name) => name.endsWith('.service'))
const units = new Map(names.map((name) => [name, readUnit(readFileSync(join(home, name), 'utf8'))]))
const unitOf = (name: string): SystemdUnit => units.get(`bezant-${name}.service`)!

const postgres = systemPostgres()
const analyzes = existsSync('/usr/bin/systemd-analyze')
/** A number that no other user of the machine has. */
const uid = 10_001

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** Places on a disk, as on a machine: directories that end with the machine are a finding. */
function newFolder(): string {
  const folder = mkdtempSync(`/var/tmp/bezant-units-`)
  chmodSync(folder, 0o755)
  undo.push(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

it.runIf(analyzes)('systemd finds no fault in the units, and takes them for confined', async () => {
  const folder = newFolder()
  for (const name of readdirSync(home)) {
    const text = readFileSync(join(home, name), 'utf8')
    await writeFile(join(folder, name), text.replaceAll('/usr/bin/node', process.execPath))
  }
  const paths = readdirSync(folder).map((name) => join(folder, name))
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', ...paths])
  expect(stdout + stderr).toBe('')
  for (const name of names) {
    const judged = await promisify(execFile)('systemd-analyze', [
      ...['security', '--offline=true', '--no-pager', join(folder, name)],
    ])
    const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(judged.stdout)!
    expect([name, Number(level) < 2]).toEqual([name, true])
  }
})

type Machine = Awaited<ReturnType<typeof openMachine>>

/** A machine with a database server, a node, and the files that docs/operate.md has an operator make. */
async function openMachine() {
  const folder = newFolder()
  const server = await openKeptServer(postgres!, {
    settings: ['archive_mode = on', `archive_command = 'cp %p ../archive/%f'`],
    asksPasswords: true,
    hasChecksums: true,
  })
  undo.push(server.close)
  const { chains, stop } = await startTestChains({ blockchains: ['BASE'] as never })
  undo.push(stop)
  const certificate = join(folder, 'server.crt')
  await writeFile(certificate, readFileSync(server.certificate))
  const urlOf = (user: string, password: string, name: string) =>
    `postgresql://${user}:${password}@localhost:${server.port}/${name}?sslmode=verify-full&sslrootcert=${certificate}`
  const admin = openAsOwner({ url: urlOf('postgres', adminPassword, 'postgres') })
  await admin.script(`create role bezant_runtime nologin; create role bezant login password 'of-the-owner';
    create role bezant_app login password 'of-the-app'; grant bezant_runtime to bezant, bezant_app`)
  await admin.script('create database bezant owner bezant')
  await admin.close()
  const places = join(folder, 'etc')
  mkdirSync(join(places, 'credentials'), { recursive: true })
  const commands = withNode(documentedBlock('Run it as a service', 'openssl rand'), chains[0]!.rpcUrl)
    .replace(/^cd .*$/m, '')
    .replace(/^export TLS=.*$/m, `export TLS='sslmode=verify-full&sslrootcert=${certificate}'`)
    .replaceAll('db.example.com', `localhost:${server.port}`)
    .replace('owner-password', 'of-the-owner')
    .replace('app-password', 'of-the-app')
  await promisify(execFile)('bash', ['-ec', commands], { cwd: places })
  return { folder, etc: places }
}

const own = (path: string, mode: number) => {
  if (process.getuid?.() === 0) chownSync(path, uid, uid)
  chmodSync(path, mode)
}

/** Does what systemd does for a unit: state, credentials, settings, and the command as its user. */
async function startUnit({ folder, etc }: Machine, name: string, instance = '') {
  const unit = unitOf(name)
  const credentials = mkdtempSync(join(folder, 'credentials-'))
  const places = { instance, states: join(folder, 'states'), credentials }
  const state = join(places.states, unit.get('StateDirectory')![0]!)
  mkdirSync(state, { recursive: true })
  own(state, Number.parseInt(unit.get('StateDirectoryMode')![0]!, 8))
  for (const [credential, path] of credentialsOf(unit)) {
    const target = join(credentials, credential)
    await writeFile(target, readFileSync(path.replace('/etc/bezant', etc)))
    own(target, 0o400)
  }
  own(credentials, 0o500)
  expect(unit.get('EnvironmentFile')).toEqual(['/etc/bezant/bezant.env'])
  const installed = new Map([
    ['/usr/bin/node', process.execPath],
    ['/opt/bezant/node_modules/bezant/dist/main.js', await programFile('bezant')],
  ])
  return startConfined({
    command: commandOf(unit, places).map((part) => installed.get(part) ?? part),
    env: { ...readSettings(readFileSync('deploy/bezant.env', 'utf8')), ...environmentOf(unit, places) },
    uid,
    writable: [state],
    cwd: state,
    ...(analyzes && { calls: callsOf(unit.get('SystemCallFilter')!) }),
  })
}

/** Waits until /ready of a program answers 200; fails with its output when it ends before. */
async function untilReady(port: number, { child, said }: ReturnType<typeof startConfined>): Promise<void> {
  let answer = ''
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said()}`)
    const response = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined)
    answer = (await response?.text()) ?? ''
    return response?.status === 200
  }
  await until(isReady, `ready at ${port}`).catch((error) => {
    throw new Error(`${error.message}: ${answer} ${said()}`)
  })
}

it.runIf(postgres)(
  'property 298: the units install, pass the check for production, become ready, and stop in time, with no more rights than they name',
  async () => {
    const machine = await openMachine()
    const { folder } = machine
    const migrated = await startUnit(machine, 'migrate')
    expect(await migrated.exited, migrated.said()).toEqual({ code: 0, signal: null })

    const checked = await startUnit(machine, 'doctor')
    expect(await checked.exited, checked.said()).toEqual({ code: 0, signal: null })
    expect(checked.said()).toContain('BEZANT_PROXIES')
    expect(checked.said()).not.toContain('FAULT')

    const [apiPort, workerPort] = [await quietPort(), await quietPort()]
    const worker = await startUnit(machine, 'worker@', String(workerPort))
    const api = await startUnit(machine, 'serve@', String(apiPort))
    undo.push(() => [worker, api].map(({ child }) => child.kill('SIGKILL')))
    await untilReady(workerPort, worker)
    await untilReady(apiPort, api)
    // The confinement is there: what these processes may not do, they did not need.
    if (canConfine()) {
      const status = readFileSync(`/proc/${api.child.pid}/status`, 'utf8')
      expect(status).toMatch(new RegExp(`^Uid:\\s+${uid}\\s`, 'm'))
      expect(status).toMatch(/^CapBnd:\s+0+$/m)
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
      if (analyzes) expect(status).toMatch(/^Seccomp:\s+2$/m)
    }
    for (const [name, unit, { child, exited, said }] of [
      ['serve@', unitOf('serve@'), api],
      ['worker@', unitOf('worker@'), worker],
    ] as const) {
      const deadline = AbortSignal.timeout(Number(unit.get('TimeoutStopSec')![0]) * 1_000)
      deadline.addEventListener('abort', () => child.kill('SIGKILL'))
      child.kill('SIGTERM')
      expect([name, await exited], said()).toEqual([name, { code: 0, signal: null }])
      expect(said()).not.toMatch(/EPERM|EROFS|EACCES/)
    }
    const state = join(folder, 'states', 'bezant')
    expect(readdirSync(state).sort()).toEqual(expect.arrayContaining(['journals']))
  },
)

it.runIf(canConfine())(
  'a confined program writes its state and nothing else, and makes no other call',
  async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'state'))
    own(join(folder, 'state'), 0o700)
    const tries = `
    const { writeFileSync } = require('node:fs')
    for (const path of ['state/x', '/var/tmp/bezant-x', '/dev/shm/bezant-x', '/etc/bezant-x']) {
      try { writeFileSync(path, ''); console.log(path, 'written') } catch (error) { console.log(path, error.code) }
    }
    try { require('node:fs').chmodSync('state/x', 0o600); console.log('chmod') } catch (error) { console.log('chmod', error.code) }`
    const calls = analyzes ? callsOf(['@system-service', '~chmod fchmodat']) : undefined
    const { exited, said } = startConfined({
      command: [process.execPath, '-e', tries],
      env: {},
      uid,
      writable: [join(folder, 'state')],
      cwd: folder,
      ...(calls && { calls }),
    })
    await exited
    const refused = ['/var/tmp/bezant-x', '/dev/shm/bezant-x', '/etc/bezant-x'].map((path) => `${path} EROFS`)
    expect(said().trim().split('\n')).toEqual([
      'state/x written',
      ...refused.map((line) => (line.startsWith('/etc') ? expect.stringMatching(/E(ROFS|ACCES)/) : line)),
      analyzes ? 'chmod EPERM' : 'chmod',
    ])
  },
)

it('the units agree: the same rights and settings, and the documents name each of them', () => {
  const page = readFileSync('docs/operate.md', 'utf8')
  const ofAll = ['User', 'StateDirectory', 'ProtectSystem', 'SystemCallFilter', 'CapabilityBoundingSet']
  for (const [name, unit] of units) {
    for (const key of ofAll)
      expect([name, key, unit.get(key)]).toEqual([name, key, unitOf('serve@').get(key)])
    const named = [...credentialsOf(unit).map(([, path]) => path), name.replace(/\.service$/, '')]
    expect(named.filter((each) => !page.includes(each.replace('/etc/bezant/', '')))).toEqual([])
  }
  expect(
    execFileSync('sh', ['-c', '. deploy/bezant.env && echo "$BEZANT_PUBLIC_URL"'], { encoding: 'utf8' }),
  ).toBe('https://payments.example.com\n')
})
