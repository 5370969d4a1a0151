import { readdir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { journalsDirectory } from '#engines/transactions/journal/index'
import { systemCode } from '#lib/system-code'
import { guessDirectoryOf } from '#runtime/config'
import type { ProductionRule } from './rule.ts'
import type { GivenSettings } from './settings.ts'

export const fileRules: readonly ProductionRule<GivenSettings>[] = [
  {
    name: 'rights on the data directory',
    safe: 'none for other users',
    faults: async ({ config }) => [await openTo(config.dataDir, all)],
  },
  {
    name: 'rights on root.key',
    safe: 'none for other users, or no such file',
    faults: async ({ config }) => [await openTo(join(config.dataDir, 'root.key'), all)],
  },
  {
    name: 'rights on journals and guesses',
    safe: 'none for other users, or not made yet',
    faults: async ({ config }) => {
      const journals = journalsDirectory(config)
      const inside = (await readdir(journals).catch(() => [])).map((name) => join(journals, name))
      return Promise.all([journals, ...inside, guessDirectoryOf(config)].map((path) => openTo(path, all)))
    },
  },
  {
    name: 'rights on files of settings',
    safe: 'other users read no secret, and change nothing',
    faults: ({ surroundings }) =>
      Promise.all(
        surroundings.settingFiles.map(async ({ name, path, holdsSecret }) => {
          // systemd lets a service read its credentials by an access list, whose rights show as those of the group.
          const isCredential = dirname(path) === surroundings.credentialsDir
          const rights = (holdsSecret ? all : writing) & (isCredential ? ofOthers : all)
          const fault = await openTo(path, rights)
          return fault && `${name}: ${fault}`
        }),
      ),
  },
  {
    name: 'storage of journals and guesses',
    safe: 'not known to end with the machine or the container',
    faults: async ({ config }) => {
      const directories = [...new Set([journalsDirectory(config), guessDirectoryOf(config)])]
      return Promise.all(directories.map(fleeting))
    },
  },
]

/** The rights of the group and of other users: all of them, and those to write. */
const all = 0o077
const writing = 0o022
const ofOthers = 0o007

/**
 * Says that other users have rights on a file or directory. Those of a group count unless this process is in it: a container
 * gives its volumes to a group of the program, and a file of root is readable by the program through one.
 */
async function openTo(path: string, rights: number): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined
  const found = await stat(path).catch((error) => {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  })
  if (!found) return undefined
  const isOurs = [process.getegid!(), ...process.getgroups!()].includes(found.gid)
  const open = found.mode & rights & (isOurs ? ofOthers : all)
  if (open === 0) return undefined
  const mode = (found.mode & 0o777).toString(8)
  return `other users may read or change ${path} (mode ${mode}): run "chmod go= ${path}" as its owner`
}

/** File systems of Linux by their magic numbers, as statfs(2) lists them, with what they end with. */
const fleetingSystems: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'memory (tmpfs), which ends with the machine'],
  [0x858458f6, 'memory (ramfs), which ends with the machine'],
  [0x794c7630, 'a layer of a container (overlay), which ends with it'],
  [0x61756673, 'a layer of a container (aufs), which ends with it'],
])

/** Says that a directory, or the one in which it will be made, does not outlive the machine or the container. */
async function fleeting(path: string): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined
  const found = await statfs(path).catch((error) => {
    if (systemCode(error) === 'ENOENT' && path !== dirname(path)) return undefined
    throw error
  })
  if (!found) return fleeting(dirname(path))
  const end = fleetingSystems.get(found.type)
  return (
    end &&
    `${path} is in ${end}, and without it a restore pays twice: put it on a disk, or on a volume that is kept`
  )
}
