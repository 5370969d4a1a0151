/** The environment of a test process, by which the set-up of a runner passes the address of its server on. */
const variable = 'BEZANT_TEST_SERVER'

/** The server that a set-up started for this test run, if one did. */
export const serverOfRun = (): string | undefined => process.env[variable] || undefined

/** Sets it for this process and those that it starts from now on; undefined removes it. */
export function setServerOfRun(url: string | undefined): void {
  if (url === undefined) delete process.env[variable]
  else process.env[variable] = url
}
