/** The recipes of `deploy/` for containers, as tests read them. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export type ComposeService = {
  image: string
  user?: string
  read_only?: boolean
  cap_drop?: string[]
  cap_add?: string[]
  privileged?: boolean
  security_opt?: string[]
  command: string[]
  environment?: Record<string, string | number>
  env_file?: string
  secrets?: string[]
  volumes?: string[]
  ports?: string[]
  profiles?: string[]
  networks?: string[]
  network_mode?: string
  restart?: string
  stop_grace_period?: string
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test?: string[]; disable?: boolean }
}

export type ComposeFile = {
  services: Record<string, ComposeService>
  networks: Record<string, { ipam: { config: { subnet: string; gateway: string }[] } }>
  volumes: Record<string, unknown>
  secrets: Record<string, { file: string }>
}

export const readCompose = (): ComposeFile =>
  parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true }) as ComposeFile

type Instruction = { name: string; value: string }

/** The instructions of the stages of the Containerfile, in order. */
export function readContainerfile(): Instruction[][] {
  const lines = readFileSync('deploy/container/Containerfile', 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
  const stages: Instruction[][] = [[]]
  for (const line of lines) {
    const [, name, value] = /^([A-Z]+) +(.*)$/.exec(line) ?? []
    if (name === undefined) continue
    if (name === 'FROM') stages.push([])
    stages.at(-1)!.push({ name, value: value! })
  }
  return stages
}

export const valuesOf = (instructions: readonly Instruction[], wanted: string): string[] =>
  instructions.filter(({ name }) => name === wanted).map(({ value }) => value)

/** The variables that the image itself sets. */
export const variablesOf = (instructions: readonly Instruction[]): Record<string, string> =>
  Object.fromEntries(
    valuesOf(instructions, 'ENV').flatMap((value) =>
      [...value.matchAll(/(\w+)=(\S+)/g)].map(([, name, given]) => [name!, given!]),
    ),
  )
