import { networkOf } from '#chains/networks/index'
import { isWithinRanges } from '#lib/address-ranges'
import { isLoopback } from '#lib/web-origin'
import type { Config, readSurroundings } from '#runtime/config'
import type { NodeSetting } from '#runtime/node-settings'
import { reachOf } from '#runtime/outbound/address'
import { findRootKeys } from '#runtime/root-key'
import { reachOfHost } from './host-reach.ts'
import type { ProductionRule } from './rule.ts'

export type GivenSettings = { config: Config; surroundings: ReturnType<typeof readSurroundings> }

type SettingRule = ProductionRule<GivenSettings>

const customers: readonly SettingRule[] = [
  {
    name: 'BEZANT_PUBLIC_URL',
    safe: 'https, and not this machine',
    faults: ({ config: { publicUrl } }) => [
      publicUrl === undefined &&
        'links and notifications name this machine: set it to the address of your proxy',
      ...addressFaults(publicUrl),
    ],
  },
  {
    name: 'BEZANT_CHALLENGE_URL',
    safe: 'https, and a host of its own',
    faults: ({ config: { challengeUrl, publicUrl } }) => [
      challengeUrl === undefined &&
        'links of payment pages name this machine: set it to the origin of the page of users at your proxy',
      ...addressFaults(challengeUrl),
      challengeUrl !== undefined &&
        publicUrl !== undefined &&
        new URL(challengeUrl).hostname === new URL(publicUrl).hostname &&
        'it has the host of BEZANT_PUBLIC_URL, so a fault of one page opens the other: give it a host name of its own',
    ],
  },
  {
    name: 'BEZANT_HOST',
    safe: 'reached by way of the proxy alone',
    faults: ({ config: { host, proxies } }) => [
      isEveryAddress(host) &&
        proxies.length === 0 &&
        'plain http is served on every address of this machine: set it to 127.0.0.1, or to an address that only the proxy reaches, and name the proxy in BEZANT_PROXIES',
      !isEveryAddress(host) &&
        reachOf(host) === 'public' &&
        'plain http is served on a public address: set it to 127.0.0.1, or to an address that only the proxy reaches',
    ],
  },
  {
    name: 'BEZANT_PROXIES',
    safe: 'known addresses',
    faults: ({ config: { proxies } }) => [
      proxies.length === 0 &&
        'all requests seem to come from the proxy that terminates TLS, so limits of addresses hold for all clients as if they were one: set it to the addresses of the proxy',
      ...proxies
        .filter((range) => !isNarrow(range))
        .map((range) => `a client in ${range} names any address as its own: list the proxies alone`),
    ],
  },
  {
    name: 'BEZANT_REQUESTS_PER_SECOND',
    safe: 'limited',
    faults: ({ config }) => [
      config.requestsPerSecondMax === 0 &&
        'one API key, or one address without a key, may keep the server busy for all others: set a limit, such as 50',
    ],
  },
  {
    name: 'BEZANT_PAGE_NODE_MS',
    safe: 'limited',
    faults: ({ config }) => [
      config.pageNodeMs === 0 &&
        'one visitor of a page may use up the nodes for all customers: unset it, or set a limit',
    ],
  },
]

const outgoing: readonly SettingRule[] = [
  {
    name: 'BEZANT_NOTIFICATION_TARGETS',
    safe: 'public addresses alone',
    faults: ({ config: { notificationTargets: targets } }) => [
      targets !== 'public' &&
        `customers may send requests from this server to ${targets === 'private' ? 'its network' : 'this machine'}: unset it`,
    ],
  },
  {
    name: 'BEZANT_PASSKEY_ORIGINS',
    safe: 'no page of a laptop',
    faults: ({ config: { passkeyOrigins } }) => [
      passkeyOrigins.some((origin) => origin === 'loopback' || isLoopback(new URL(origin))) &&
        'pages that a program on the machine of a user serves may ask for passkeys: list the origins of your pages alone',
    ],
  },
  {
    name: 'BEZANT_SMTP_URL',
    safe: 'encrypted, or none',
    faults: async ({ config: { smtpUrl } }) => {
      if (smtpUrl === undefined) return []
      const { protocol, hostname, searchParams } = new URL(smtpUrl)
      if ((await reachOfHost(hostname)) === 'machine') return []
      return [
        protocol === 'smtp:' &&
          searchParams.get('requireTLS') !== 'true' &&
          'codes with which users log in may cross the network in clear text: use smtps://, or add requireTLS=true',
        searchParams.get('tls.rejectUnauthorized') === 'false' &&
          'any server may take the mails with their codes: remove tls.rejectUnauthorized',
      ]
    },
  },
  {
    name: 'BEZANT_MAIL_FROM',
    safe: 'a sender to whom users can answer, or no mails',
    faults: ({ config: { smtpUrl, mailFrom } }) => [
      smtpUrl !== undefined &&
        /@localhost>?\s*$/.test(mailFrom) &&
        'mails to users have a sender at localhost, which receivers refuse or take for forged: set it to an address of yours',
    ],
  },
]

const money: readonly SettingRule[] = [
  {
    name: 'BEZANT_NETWORKS',
    safe: 'no chain is believed by the word of one foreign endpoint',
    faults: async ({ config: { networks } }) => (await Promise.all(networks.map(endpointFaults))).flat(),
  },
  {
    name: 'BEZANT_CROSSCHAIN_ENVIRONMENT',
    safe: 'that of a network',
    faults: ({ config: { networks, crosschainEnvironment: environment } }) => [
      networks.length > 0 &&
        !networks.some(({ blockchain }) => networkOf(blockchain)?.environment === environment) &&
        `it is ${environment}, and no network in BEZANT_NETWORKS is: coins that are burned on yours are never minted. Set the other one`,
    ],
  },
  {
    name: 'BEZANT_ATTESTATION_THRESHOLD',
    safe: 'no attester alone decides where there are several',
    faults: ({ config: { attesters, attestationThreshold } }) => [
      attesters.some(({ service }) => service) &&
        attestationThreshold === 1 &&
        'one stolen key mints coins although there are several attesters: raise it, and that of the contracts',
    ],
  },
  {
    name: 'BEZANT_REVIEW_APPROVERS',
    safe: 'two, or no main network',
    faults: ({ config: { networks, reviewApprovers } }) => [
      reviewApprovers === 1 &&
        networks.some(isLive) &&
        'one operator, or one stolen key of an operator, uploads a file of payouts and approves it: set it to 2',
    ],
  },
  {
    name: 'randomness of the root key',
    safe: 'random, or kept by a key service',
    faults: async ({ config }) => [
      ((await findRootKeys(config)) ?? []).some((key) => new Set(key).size < distinctBytesMin) &&
        'it has a pattern, as examples have: make another one by "openssl rand -hex 32", and rotate to it as docs/operate.md says',
    ],
  },
]

const programs: readonly SettingRule[] = [
  {
    name: 'BEZANT_FAILPOINT',
    safe: 'unset',
    faults: ({ config }) => [
      config.failpoint && 'a process kills or freezes itself on purpose, for tests: unset it',
    ],
  },
  {
    name: 'NODE_TLS_REJECT_UNAUTHORIZED',
    safe: 'certificates are verified',
    faults: ({ surroundings }) => [
      !surroundings.verifiesTls &&
        'no certificate is verified, of nodes, the database or the key service: unset it, and name an authority of your own in NODE_EXTRA_CA_CERTS',
    ],
  },
  {
    name: 'NODE_OPTIONS',
    safe: 'no debugger, and no weaker http or TLS',
    faults: ({ surroundings }) =>
      [...surroundings.nodeOptions.matchAll(weakening)].map(
        ([option]) => `${option} ${weakened(option)}: remove it`,
      ),
  },
]

export const settingRules: readonly SettingRule[] = [...customers, ...outgoing, ...money, ...programs]

/** Of 32 random bytes some 30 are distinct; fewer than half of them by chance in one of 10^14 keys. */
const distinctBytesMin = 16

const weakening = /--(inspect|tls-keylog|insecure-http-parser)(?![a-z])[\w-]*/g

function weakened(option: string): string {
  if (option.startsWith('--inspect'))
    return 'lets other programs of this machine read the root key from memory'
  if (option.startsWith('--tls')) return 'writes the keys of all connections to a file'
  return 'lets clients send requests that the proxy reads in another way'
}

/** The faults of an address that customers open. */
function addressFaults(text: string | undefined) {
  if (text === undefined) return []
  const url = new URL(text)
  return [
    isLoopback(url) && 'it names this machine: set it to the address that customers use',
    url.protocol === 'http:' && 'keys and codes of customers cross the network in clear text: use https',
  ]
}

const isEveryAddress = (host: string): boolean => ['', '0.0.0.0', '::', '[::]'].includes(host)

const privateRanges = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1',
  'fc00::/7',
]

/** Whether a range is private, or no wider than those that networks of proxies publish: /13 of IPv4 and /29 of IPv6. */
function isNarrow(range: string): boolean {
  const [address = '', length] = range.split('/')
  const least = address.includes(':') ? 24 : 12
  return length === undefined || Number(length) >= least || isWithinRanges(range, privateRanges)
}

const isLive = ({ blockchain }: NodeSetting): boolean => networkOf(blockchain)?.environment === 'LIVE'

/** The faults of the endpoints of a chain. Endpoints of this machine or its network are the operator's own. */
async function endpointFaults(node: NodeSetting) {
  const { blockchain, rpcUrls, agree } = node
  const urls = rpcUrls.map((text) => new URL(text))
  const reaches = await Promise.all(urls.map(({ hostname }) => reachOfHost(hostname)))
  const foreign = urls.filter((_, index) => reaches[index] === 'elsewhere')
  const isBelievedAlone = agree === 1 || new Set(urls.map(({ hostname }) => hostname)).size === 1
  return [
    foreign.some(({ protocol }) => protocol === 'http:') &&
      `${blockchain}: an endpoint is asked over plain http, and the network in between decides its answers: use https`,
    isLive(node) &&
      foreign.length > 0 &&
      isBelievedAlone &&
      `${blockchain}: one foreign provider alone says what was paid: list three of different providers, without "agree": 1`,
  ]
}
