// Segmenter specs, `name` or `name:key=value,key=value`, where values may hold commas in parentheses.

/// Returns the name and the settings of a spec.
export function splitSpec(spec) {
  const colon = spec.indexOf(":");
  return colon < 0 ? { name: spec.trim(), settings: "" }
    : { name: spec.slice(0, colon).trim(), settings: spec.slice(colon + 1).trim() };
}

/// Returns the spec of a name and settings as someone typed them.
export function joinSpec(name, settings) {
  const rest = settings.trim().replace(/,+$/, "");
  return rest ? `${name}:${rest}` : name;
}

/// Returns the spec with this setting in place of any other value of it.
export function withSetting(spec, key, value) {
  const { name, settings } = splitSpec(spec);
  const others = parts(settings).filter((part) => part.split("=", 1)[0].trim() !== key);
  return joinSpec(name, [...others, `${key}=${value}`].join(","));
}

/// Returns the spec without a setting.
export function withoutSetting(spec, key) {
  const { name, settings } = splitSpec(spec);
  return joinSpec(name, parts(settings).filter((part) => part.split("=", 1)[0].trim() !== key).join(","));
}

/// Splits settings at the commas that stand in no parentheses.
function parts(settings) {
  const found = [];
  let depth = 0;
  let part = "";
  for (const letter of settings) {
    if (letter === "(") depth += 1;
    if (letter === ")") depth -= 1;
    if (letter === "," && depth === 0) {
      found.push(part);
      part = "";
    } else {
      part += letter;
    }
  }
  found.push(part);
  return found.map((one) => one.trim()).filter(Boolean);
}
