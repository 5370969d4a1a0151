import type { Repository, Rule } from './repository.ts'

type Manifest = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>
type LockedPackage = { resolved?: string; license?: string; link?: boolean } & Partial<
  Record<'dev' | 'devOptional' | 'optional' | 'peer', boolean>
>
type LockFile = { packages: Readonly<Record<string, LockedPackage>> }

const jsonOf = (repository: Repository, path: string): unknown =>
  JSON.parse(repository.files.find((file) => file.path === path)?.text ?? '{}')

export const lockFileRule: Rule = {
  name: 'the lock file installs on every machine',
  why: 'An installation is refused where the lock lacks a package of another platform, and fails where its registry is not reached.',
  check: (repository) => {
    const { dependencies, devDependencies, optionalDependencies } = jsonOf(
      repository,
      'package.json',
    ) as Manifest
    const { packages } = jsonOf(repository, 'package-lock.json') as LockFile
    const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
    return [
      ...names
        .filter((name) => packages[`node_modules/${name}`] === undefined)
        .map((name) => `package-lock.json lacks ${name}: pin a version that has a package for each platform`),
      ...Object.entries(packages)
        .filter(([, { resolved }]) => resolved?.includes('://'))
        .map(([name]) => `package-lock.json names the registry of ${name}`),
    ]
  },
}

/** Licences by which a program may be used and passed on as a part of any other. */
const permissive = new Set(
  '0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT MIT-0 Unlicense'.split(' '),
)

/** Whether an SPDX expression leaves a choice of permissive licences. */
const isPermissive = (expression = ''): boolean =>
  expression
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((name) => permissive.has(name)))

export const licenceRule: Rule = {
  name: 'an installation for production has packages of permissive licences alone',
  why: 'An operator signs for every licence in it. What a sandbox needs beyond that is an optional dependency, which `npm install --omit=optional` leaves out.',
  check: (repository) => {
    const { packages } = jsonOf(repository, 'package-lock.json') as LockFile
    return Object.entries(packages)
      .filter(
        ([path, { dev, devOptional, optional, peer, link }]) =>
          path.startsWith('node_modules/') && !(dev || devOptional || optional || peer || link),
      )
      .filter(([, { license }]) => !isPermissive(license))
      .map(([path, { license = 'no licence' }]) => `package-lock.json has ${path} of ${license}`)
  },
}
