import { endpoints } from '#api/index'
import type { Repository, Rule } from './repository.ts'

/** A request as the console writes it: `ask('POST', …)`, or `read(…)`, with the path as a text. */
const request =
  /\b(?:ask(?:<[^()]*>)?\(\s*'(\w+)',|read(?:<[^()]*>)?\()\s*(['`])(\/(?:v\d|operator|sandbox)[^'`]*)\2/g

/** The paths of the operations of the sandbox. They are made by functions, so they are read from their sources. */
function sandboxPaths(repository: Repository): string[] {
  const files = repository.matching(/^src\/sandbox\/.*\.ts$/).filter(({ path }) => !path.endsWith('.test.ts'))
  const prefixes = new Map<string, string>()
  for (const { path: file, text } of files)
    for (const [, exported, name, path] of text.matchAll(/^(export )?const (\w+) = '(\/sandbox[^']*)'/gm))
      prefixes.set(exported ? name! : `${file} ${name}`, path!)
  for (const { path: file, text } of files)
    for (const [, name, first, rest] of text.matchAll(/^const (\w+) = `\$\{(\w+)\}(\/[^`]*)`/gm))
      if (prefixes.has(first!)) prefixes.set(`${file} ${name}`, prefixes.get(first!)! + rest!)
  return files.flatMap(({ path: file, text }) => {
    const prefix = (name: string) => prefixes.get(`${file} ${name}`) ?? prefixes.get(name) ?? ''
    const written = [...text.matchAll(/\bpath: ?(?:['`](\S+)['`]|(\w+))/g)].map(([, literal, name]) =>
      literal === undefined ? prefix(name!) : literal.replace(/^\$\{(\w+)\}/, (_, each) => prefix(each)),
    )
    const short = /[{ ,]path[,}]/.test(text) ? [prefix('path')] : []
    const ofChains = [...text.matchAll(/\bon\(\s*'([\w-]+)'/g)].map(
      ([, verb]) => `/sandbox/chains/{blockchain}/${verb}`,
    )
    return [...written, ...short, ...ofChains].filter(
      (path) => path.startsWith('/sandbox') && !path.includes('$'),
    )
  })
}

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

export const consoleRequestRule: Rule = {
  name: 'the console asks for operations that exist',
  why: 'A path is a text there, which no compiler compares with the server.',
  check: (repository) => {
    const known = endpoints.map(({ method, path }) => ({
      method: method as string,
      pattern: patternOf(path),
    }))
    const ofLab = sandboxPaths(repository).map(patternOf)
    return repository.matching(/^console\/src\/.*\.(ts|svelte)$/).flatMap(({ path: file, text }) =>
      [...text.matchAll(request)].flatMap(({ 1: method = 'GET', 3: written, index }) => {
        const path = written!.split('?')[0]!.replaceAll(/\$\{[^}]*\}/g, 'x')
        // A path that ends with a choice, such as a verb, can be any of several.
        const isOpen = /\$\{(verb|line)\}/.test(written!)
        const exists = path.startsWith('/sandbox')
          ? ofLab.some((pattern) => pattern.test(path))
          : known.some((each) => each.method === method && each.pattern.test(path))
        const line = text.slice(0, index).split('\n').length
        return exists || isOpen ? [] : [`${file}:${line} asks for ${method} ${written}`]
      }),
    )
  },
}
